//! Where toolchains are, by the managers that install them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A manager of toolchains.
pub(super) struct Manager {
    /// The variable with its folder.
    pub(super) variable: Option<&'static str>,
    /// Its folder below the home when the variable is not set; `None` where only the variable says it.
    default: Option<&'static str>,
    /// What programs need of the folder; an empty name is all of it.
    shown: &'static [&'static str],
}

const fn manager(
    variable: &'static str,
    default: &'static str,
    shown: &'static [&'static str],
) -> Manager {
    Manager {
        variable: Some(variable),
        default: Some(default),
        shown,
    }
}

const fn folder(default: &'static str, shown: &'static [&'static str]) -> Manager {
    Manager {
        variable: None,
        default: Some(default),
        shown,
    }
}

const fn pointed(variable: &'static str) -> Manager {
    Manager {
        variable: Some(variable),
        default: None,
        shown: ALL,
    }
}

const ALL: &[&str] = &[""];

/// The managers. Their downloads are not listed: those are caches.
pub(super) const MANAGERS: &[Manager] = &[
    manager("RUSTUP_HOME", ".rustup", ALL),
    manager("CARGO_HOME", ".cargo", &["bin"]),
    manager("PYENV_ROOT", ".pyenv", ALL),
    manager("NVM_DIR", ".nvm", &["alias", "nvm.sh", "versions"]),
    manager("VOLTA_HOME", ".volta", &["bin", "tools"]),
    manager(
        "MISE_DATA_DIR",
        ".local/share/mise",
        &["installs", "plugins", "shims"],
    ),
    manager("RBENV_ROOT", ".rbenv", ALL),
    manager("DOTNET_ROOT", ".dotnet", ALL),
    manager("GOPATH", "go", &["bin"]),
    manager("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", ALL),
    manager("PNPM_HOME", ".local/share/pnpm", ALL),
    pointed("GEM_HOME"),
    pointed("GOROOT"),
    pointed("JAVA_HOME"),
    pointed("M2_HOME"),
    folder(
        ".asdf",
        &["asdf.sh", "bin", "installs", "lib", "plugins", "shims"],
    ),
    folder(".bun", &["bin"]),
    folder(".deno", &["bin"]),
    folder(".local/lib", ALL),
    folder(".local/share/fnm", &["aliases", "node-versions"]),
    folder(".local/share/pipx", &["venvs"]),
    folder(".local/share/uv", &["tools"]),
    folder(".sdkman", &["candidates"]),
];

impl Manager {
    /// Returns its folder. A relative one means another place in each folder, so it is none.
    pub(super) fn root(
        &self,
        environment: &BTreeMap<OsString, OsString>,
        home: &Path,
    ) -> Option<PathBuf> {
        let set = self
            .variable
            .and_then(|variable| environment.get(OsStr::new(variable)))
            .filter(|value| !value.is_empty());
        match set {
            Some(value) => Some(PathBuf::from(value)).filter(|path| path.is_absolute()),
            None => self.default.map(|below| home.join(below)),
        }
    }

    /// Returns what programs need of its folder.
    pub(super) fn places(
        &self,
        environment: &BTreeMap<OsString, OsString>,
        home: &Path,
    ) -> Vec<PathBuf> {
        let Some(root) = self.root(environment, home) else {
            return Vec::new();
        };
        let below = |name: &&str| match *name {
            "" => root.clone(),
            name => root.join(name),
        };
        self.shown.iter().map(below).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_moves_a_managers_folder() {
        let places = |variable: &str, value: Option<&str>| {
            let manager = MANAGERS
                .iter()
                .find(|manager| manager.variable == Some(variable))
                .unwrap();
            let set = value.map(|value| (variable.into(), value.into()));
            manager.places(&set.into_iter().collect(), Path::new("/home/ada"))
        };
        for (variable, value, expected) in [
            ("CARGO_HOME", None, &["/home/ada/.cargo/bin"][..]),
            ("CARGO_HOME", Some(""), &["/home/ada/.cargo/bin"]),
            ("CARGO_HOME", Some("/data/cargo"), &["/data/cargo/bin"]),
            ("CARGO_HOME", Some("cargo"), &[]),
            ("RUSTUP_HOME", None, &["/home/ada/.rustup"]),
            ("JAVA_HOME", None, &[]),
            ("JAVA_HOME", Some("/data/jdk"), &["/data/jdk"]),
        ] {
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(places(variable, value), expected, "{variable} {value:?}");
        }
    }
}
