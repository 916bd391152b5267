//! What the table of keys consists of: names, types, defaults, where a key is allowed.

use super::provider::AcpName;

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name, in snake case (or kebab case if it names a provider).
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// The value if nothing sets it.
    pub default: DefaultValue,
    /// Where it is allowed.
    pub scope: Scope,
    /// What it means, in one sentence or two, without markup but backquotes.
    pub doc: &'static str,
}

/// What the value of a key is.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// One value.
    Leaf(Leaf),
    /// An object with these keys, merged over the layers key by key.
    Section(&'static [Key]),
    /// An object whose names are free within a rule, merged over the layers name by name.
    Map(NameRule, Each),
    /// A list of objects with these keys; a layer's list replaces the one below it as a whole.
    List(&'static [Key]),
    /// An object with one section per project, each with the keys of [`Scope::Project`] and
    /// [`Scope::OneProject`].
    Projects,
}

/// What is under each name of a [`Kind::Map`].
#[derive(Debug, Clone, Copy)]
pub enum Each {
    /// One value.
    Leaf(Leaf),
    /// An object with these keys.
    Section(&'static [Key]),
}

/// The names that a [`Kind::Map`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// An environment variable.
    Environment,
    /// A phase of the pipeline.
    Phase,
    /// An agent type.
    AgentType,
    /// A class of failures that texts can have.
    FailureClass,
    /// A user of the page.
    User,
    /// A tracker, by a name of the project's own.
    Tracker,
    /// A status of issues.
    Status,
    /// A priority of issues.
    Priority,
    /// A program that speaks the Agent Client Protocol.
    AcpProgram,
}

impl NameRule {
    /// How a name is written in docs: `<type>`.
    pub const fn placeholder(self) -> &'static str {
        match self {
            Self::Environment => "<NAME>",
            Self::Phase => "<phase>",
            Self::AgentType => "<type>",
            Self::FailureClass => "<class>",
            Self::User => "<user>",
            Self::Tracker => "<tracker>",
            Self::Status => "<status>",
            Self::Priority => "<priority>",
            Self::AcpProgram => "<name>",
        }
    }

    /// Returns the free name that is meant where a map has a key of its sections in the place of a name:
    /// `providers.acp.command` is short for `providers.acp.default.command`.
    pub const fn unnamed(self) -> Option<&'static str> {
        match self {
            Self::AcpProgram => Some(AcpName::DEFAULT),
            _ => None,
        }
    }
}

/// The type of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// `true` or `false`.
    Bool,
    /// A whole number within limits, both included.
    Integer {
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
    },
    /// An amount in US dollars, above zero.
    Usd,
    /// A share: a number from 0 to 1, both included.
    Share,
    /// A text that keeps a rule.
    Text(TextRule),
    /// A list of texts that keep a rule.
    Texts(TextRule),
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A path of a file or folder; `~/` is the home folder.
    Path(PathBase),
    /// The path of a database file, or the address of a database on a server.
    Database,
    /// A program: a name looked up in `PATH`, or a path.
    Program,
    /// A command: a text for `sh -c`, or a list of words.
    Command,
}

/// What a text must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRule {
    /// Anything, of many lines, even empty; no NUL.
    Any,
    /// One line that is not empty.
    Line,
    /// A prefix of issue identifiers.
    Prefix,
    /// A branch name that git cannot mistake for an option, and not one of Symphony's own branches.
    Branch,
    /// A pattern of paths that stays inside the project.
    Glob,
    /// A regular expression for the text of a failure.
    FailurePattern,
    /// The name of a trial of prompts.
    TrialName,
    /// The hash of a user's token.
    TokenHash,
    /// A path below `/` or `~/`.
    AbsolutePath,
    /// A host that a sandbox may reach, with or without a port.
    AllowedHost,
    /// What runs agents: `auto`, a provider, or one of its programs.
    Provider,
    /// The name of a pool of workers.
    Pool,
    /// A git repository that other hosts reach, without a password in its address.
    Hub,
    /// The address of a Temporal service.
    Temporal,
}

/// What a relative path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    /// The folder of the file that names it (a default: the project's root).
    File,
    /// The project's root.
    Project,
}

/// The value of a key that nothing sets.
#[derive(Debug, Clone, Copy)]
pub enum DefaultValue {
    /// This.
    Bool(bool),
    /// This.
    Integer(u64),
    /// This.
    Text(&'static str),
    /// These.
    Texts(&'static [&'static str]),
    /// Nothing: the key is optional, `null` unsets it, and this JSON text is an example.
    Unset(&'static str),
    /// The keys below have defaults of their own.
    Below,
}

/// Where a key is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// At the top level of a file; in a project's own file it applies to that project.
    TopLevel,
    /// Anywhere: at the top level of the global file it is the default of all projects.
    Project,
    /// In a project's own file or section only, since two projects cannot share it.
    OneProject,
}

impl Key {
    /// Finds the key of a list that a file's name means: its own name, or its camelCase alias.
    pub fn find(keys: &'static [Self], name: &str) -> Option<&'static Self> {
        keys.iter()
            .find(|key| key.name == name || (key.has_alias() && key.alias() == name))
    }

    /// Returns the camelCase spelling.
    pub fn alias(&self) -> String {
        let mut words = self.name.split('_');
        let mut alias = words.next().unwrap_or_default().to_owned();
        for word in words {
            let mut letters = word.chars();
            alias.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            alias.push_str(letters.as_str());
        }
        alias
    }

    /// Returns whether the camelCase spelling differs from the name.
    pub fn has_alias(&self) -> bool {
        self.name.contains('_')
    }

    /// Returns the default as JSON, nothing for an optional key.
    pub fn default_json(&self) -> Option<serde_json::Value> {
        match self.default {
            DefaultValue::Bool(value) => Some(value.into()),
            DefaultValue::Integer(value) => Some(value.into()),
            DefaultValue::Text(value) => Some(value.into()),
            DefaultValue::Texts(values) => Some(values.to_vec().into()),
            DefaultValue::Unset(_) | DefaultValue::Below => None,
        }
    }

    /// Returns the JSON text to show for this key: its default, or its example.
    pub fn shown_json(&self) -> String {
        match self.default {
            DefaultValue::Unset(example) => example.to_owned(),
            _ => self
                .default_json()
                .map_or_else(|| "{}".to_owned(), |value| value.to_string()),
        }
    }
}

/// One row of the flattened table.
#[derive(Debug, Clone)]
pub struct KeyRow {
    /// The path, with placeholders: `profiles.<type>.max_concurrency`, `gates[].name`.
    pub path: String,
    /// The key; for what is under a free name, the map's key.
    pub key: &'static Key,
    /// The type, nothing for a section.
    pub leaf: Option<Leaf>,
}

/// Flattens a list of keys into rows, sections before what they hold, in the order of the table.
pub fn rows(keys: &'static [Key]) -> Vec<KeyRow> {
    let mut rows = Vec::new();
    push_rows(keys, "", &mut rows);
    rows
}

fn push_rows(keys: &'static [Key], above: &str, rows: &mut Vec<KeyRow>) {
    for key in keys {
        let path = format!("{above}{}", key.name);
        let leaf = if let Kind::Leaf(leaf) = key.kind {
            Some(leaf)
        } else {
            None
        };
        rows.push(KeyRow {
            path: path.clone(),
            key,
            leaf,
        });
        match key.kind {
            Kind::Leaf(_) | Kind::Projects => {}
            Kind::Section(below) => push_rows(below, &format!("{path}."), rows),
            Kind::List(below) => push_rows(below, &format!("{path}[]."), rows),
            Kind::Map(rule, Each::Leaf(leaf)) => {
                rows.push(KeyRow {
                    path: format!("{path}.{}", rule.placeholder()),
                    key,
                    leaf: Some(leaf),
                });
            }
            Kind::Map(rule, Each::Section(below)) => {
                push_rows(below, &format!("{path}.{}.", rule.placeholder()), rows);
            }
        }
    }
}
