//! The package registries that a project's tools are configured with.
//!
//! A tool that prints its settings is asked (npm, pip, Go), in the project's folder, since settings are in files of the
//! project, of the user, of the system and in variables, and only the tool knows their order. Stable Cargo prints none, so
//! its files are read as its reference describes. No package is asked for: a recording proxy would need a network request
//! for each start, and would find nothing where the machine is offline.
//!
//! Tokens never pass: only hosts and URLs without user and password leave this module.

mod answer;
mod ask;
mod cargo;
mod kept;
mod python;
mod tool;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::url::Server;

pub(crate) use ask::{RegistryQuery, registries_of};

/// The registries of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Registries {
    /// Their hosts, as entries of the list of allowed hosts.
    pub(crate) hosts: BTreeSet<String>,
    /// Variables that lead tools there whose settings are in the user's home, which a sandbox does not show.
    pub(crate) variables: BTreeMap<String, String>,
}

impl Registries {
    /// Adds hosts by name.
    fn add_hosts(&mut self, hosts: &[&str]) {
        self.hosts
            .extend(hosts.iter().map(|host| (*host).to_owned()));
    }

    /// Adds the server of a URL, and returns the URL without user and password. An address is not added: files of a
    /// repository name registries, and only a person may open an address.
    fn add(&mut self, url: &str) -> Option<String> {
        let server = Server::parse(url)?;
        if server.is_named() {
            self.hosts.insert(server.entry());
        }
        Some(server.url)
    }

    /// Adds the server of a URL, and sets variables to the URL.
    fn add_for(&mut self, url: &str, variables: &[&str]) {
        if let Some(url) = self.add(url) {
            for name in variables {
                self.variables.insert((*name).to_owned(), url.clone());
            }
        }
    }

    /// Adds what another tool uses.
    fn join(&mut self, other: Self) {
        self.hosts.extend(other.hosts);
        self.variables.extend(other.variables);
    }
}

/// Returns all URLs in a text, whatever is around them.
fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | '|' | '<' | '>')
    })
    .filter(|word| word.starts_with("http://") || word.starts_with("https://"))
}
