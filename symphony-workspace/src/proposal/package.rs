//! One package of the project: how it is set up and checked.

use super::pattern;

/// What a check examines; the first part of its gate's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Test,
    Lint,
    Format,
    Types,
    Build,
}

impl Role {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Format => "format",
            Self::Types => "types",
            Self::Build => "build",
        }
    }
}

/// A command that says by its exit code whether the package is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) role: Role,
    /// A shell command that runs in the package's folder.
    pub(super) command: String,
}

/// Which packages of the same ecosystem, in folders below, a package's own set-up and checks take care of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Coverage {
    /// None.
    #[default]
    Nothing,
    /// All but those in these folders, relative to the package.
    Except(Vec<String>),
    /// Those whose folders, relative to the package, fit the patterns.
    Matching(Vec<String>),
}

/// A package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Package {
    /// Its ecosystem, as in the names of gates.
    pub(super) kind: &'static str,
    /// Its folder, empty for the root.
    pub(super) folder: String,
    /// A shell command that runs in its folder once, before the checks.
    pub(super) setup: Option<String>,
    pub(super) checks: Vec<Check>,
    /// Folders of it that set-up or checks fill.
    pub(super) fills: Vec<&'static str>,
    pub(super) coverage: Coverage,
    /// Whether no package above takes care of it, whatever that one says.
    pub(super) stands_alone: bool,
}

impl Package {
    /// Creates a package without checks.
    pub(super) fn new(kind: &'static str, folder: &str) -> Self {
        Self {
            kind,
            folder: folder.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn set_up(mut self, command: impl Into<String>) -> Self {
        self.setup = Some(command.into());
        self
    }

    pub(super) fn check(mut self, role: Role, command: impl Into<String>) -> Self {
        let command = command.into();
        self.checks.push(Check { role, command });
        self
    }

    pub(super) fn fills(mut self, folder: &'static str) -> Self {
        self.fills.push(folder);
        self
    }

    pub(super) fn covers(mut self, coverage: Coverage) -> Self {
        self.coverage = coverage;
        self
    }

    /// Returns whether its set-up and checks cover a package below it.
    pub(super) fn covers_package(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        let below = if self.folder.is_empty() {
            Some(other.folder.as_str())
        } else {
            let rest = other.folder.strip_prefix(&self.folder);
            rest.and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(below) = below.filter(|below| !below.is_empty()) else {
            return false;
        };
        match &self.coverage {
            Coverage::Nothing => false,
            Coverage::Except(folders) => !folders.iter().any(|folder| {
                let folder = folder.trim_end_matches('/');
                below
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
            Coverage::Matching(patterns) => pattern::is_member(patterns, below),
        }
    }
}
