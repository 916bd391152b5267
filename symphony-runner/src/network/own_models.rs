//! The models that the CLI of an agent knows from its own settings and its login: read outside, and led into a sandbox
//! without their keys.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use serde_json::{Map, Value, json};
use symphony_core::config::ProviderName;
use symphony_proxy::{Credential, Secret};
use symphony_workspace::read_text;

use super::known_servers::KNOWN;
use super::url::Server;
use crate::provider::api::text;
use crate::provider::own_settings::{OwnSettings, SettingsForm, fill_in};
use crate::provider::{AgentCli, agent_cli};

/// Largest file of settings that is read, in bytes.
const SETTINGS_BYTES_MAX: usize = 1024 * 1024;

/// A file for the home of a sandbox.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HomeFile {
    /// Its path in the home.
    pub(crate) path: PathBuf,
    /// What it has.
    pub(crate) text: String,
}

impl std::fmt::Debug for HomeFile {
    /// Without the text, which may have a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HomeFile").field(&self.path).finish()
    }
}

/// What a CLI knows of its models.
#[derive(Clone)]
pub(crate) struct OwnModels {
    cli: &'static AgentCli,
    own: &'static OwnSettings,
    settings: Value,
    login: Value,
}

impl std::fmt::Debug for OwnModels {
    /// Without the documents, which have keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OwnModels").field(&self.cli.name).finish()
    }
}

/// A server of models, with the credential that stays outside.
#[derive(Debug)]
pub(super) struct ModelServer {
    /// The name in the settings.
    pub(super) name: String,
    pub(super) server: Server,
    pub(super) credentials: Vec<Credential>,
}

/// How the models are reached.
#[derive(Debug, Default)]
pub(super) struct OwnWay {
    /// Those that an endpoint leads to.
    pub(super) servers: Vec<ModelServer>,
    /// The servers that the CLI reaches itself, with what it logs in with.
    pub(super) hosts: Vec<String>,
    /// The same on this machine.
    pub(super) relays: Vec<std::net::SocketAddr>,
    /// Providers of models whose address is not known.
    pub(super) unknown: Vec<String>,
}

/// Reads the settings and the login of a provider's CLI; `None` for a CLI whose settings no run needs.
pub(crate) fn read_own(
    provider: ProviderName,
    environment: &BTreeMap<OsString, OsString>,
) -> Option<OwnModels> {
    let cli = agent_cli(provider)?;
    let own = cli.own_settings.as_ref()?;
    let variable = |name: &str| environment.get(OsStr::new(name)).cloned();
    let documents = own.paths(variable).into_iter().filter_map(|path| {
        let mut document = document(&path)?;
        if own.form == SettingsForm::Providers {
            fill_in(&mut document, &|kind, name| match kind {
                "env" => variable(name)?.into_string().ok(),
                _ => file_of(&path, name, variable("HOME")),
            });
        }
        Some(document)
    });
    let login = match own.form {
        SettingsForm::Providers => cli.credentials.path(variable).and_then(|it| document(&it)),
        SettingsForm::Addresses => None,
    };
    let settings = own.joined(documents);
    let mut login = login.unwrap_or_else(|| json!({}));
    if own.form == SettingsForm::Providers {
        let key = |name: &str| text(environment, name).map(str::to_owned);
        add_keys(&settings, &mut login, key);
    }
    Some(OwnModels {
        cli,
        own,
        settings,
        login,
    })
}

/// Adds the keys of variables to those of the login, where there is no other one.
fn add_keys(settings: &Value, login: &mut Value, variable: impl Fn(&str) -> Option<String>) {
    let Some(login) = login.as_object_mut() else {
        return;
    };
    for server in KNOWN.iter().filter(|server| !server.base_url.is_empty()) {
        let set = settings.pointer(&format!("/provider/{}/options/apiKey", server.name));
        if set.is_none()
            && !login.contains_key(server.name)
            && let Some(key) = variable(server.variable)
        {
            let entry = json!({ "type": "api", "key": key });
            login.insert(server.name.to_owned(), entry);
        }
    }
}

fn document(path: &Path) -> Option<Value> {
    let text = read_text(path).ok()?;
    if text.len() > SETTINGS_BYTES_MAX {
        return None;
    }
    jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()).ok()
}

/// Reads the file that a setting names: beside the settings, or in the home.
fn file_of(settings: &Path, name: &str, home: Option<OsString>) -> Option<String> {
    let path = match name.strip_prefix("~/") {
        Some(rest) => PathBuf::from(home?).join(rest),
        None => settings.parent()?.join(name),
    };
    let text = read_text(&path).ok()?;
    (text.len() <= SETTINGS_BYTES_MAX).then(|| text.trim().to_owned())
}

impl OwnModels {
    /// Returns the variables that would lead past the copies.
    pub(super) fn removed(&self) -> &'static [&'static str] {
        self.own.removed
    }

    /// Returns the copies for the home of a sandbox.
    pub(crate) fn files(&self) -> Vec<HomeFile> {
        let mut files = Vec::new();
        let is_empty = |value: &Value| value.as_object().is_none_or(Map::is_empty);
        if !is_empty(&self.settings) {
            files.push(HomeFile {
                path: self.own.inside.into(),
                text: self.settings.to_string(),
            });
        }
        let credentials = &self.cli.credentials;
        if !is_empty(&self.login) {
            files.push(HomeFile {
                path: Path::new(credentials.folder).join(credentials.file),
                text: self.login.to_string(),
            });
        }
        files
    }

    /// Decides how each model is reached.
    pub(super) fn way(&self) -> OwnWay {
        let mut way = OwnWay::default();
        match self.own.form {
            SettingsForm::Providers => {
                for name in self.providers() {
                    self.lead(&name, &mut way);
                }
            }
            SettingsForm::Addresses => {
                let mut addresses = BTreeSet::new();
                find_addresses(&self.settings, &mut addresses);
                let servers = addresses.iter().filter_map(|url| Server::parse(url));
                servers.for_each(|server| way.open(&server));
            }
        }
        way
    }

    /// Replaces the address of a provider by the one of its endpoint, and takes its credential out.
    pub(super) fn redirect(&mut self, name: &str, inside: &str, stand_in: &str) {
        if let Some(login) = self.login.as_object_mut() {
            login.remove(name);
        }
        let Some(settings) = self.settings.as_object_mut() else {
            return;
        };
        let options = ["provider", name, "options"]
            .iter()
            .fold(settings, |at, key| {
                let next = at.entry(*key).or_insert_with(|| json!({}));
                if !next.is_object() {
                    *next = json!({});
                }
                next.as_object_mut().expect("made an object above")
            });
        options.remove("headers");
        options.insert("baseURL".to_owned(), json!(inside));
        options.insert("apiKey".to_owned(), json!(stand_in));
    }

    fn names(&self, key: &str) -> Option<BTreeSet<&str>> {
        let names = self.settings.get(key)?.as_array()?;
        Some(names.iter().filter_map(Value::as_str).collect())
    }

    /// Returns the providers that the settings or the login name, and that are not switched off.
    fn providers(&self) -> BTreeSet<String> {
        let (on, off) = (
            self.names("enabled_providers"),
            self.names("disabled_providers"),
        );
        let of = |value: Option<&Value>| {
            let members = value.and_then(Value::as_object);
            members.map(|it| it.keys().cloned().collect::<Vec<_>>())
        };
        let named = [of(self.settings.get("provider")), of(Some(&self.login))];
        named
            .into_iter()
            .flatten()
            .flatten()
            .filter(|name| on.as_ref().is_none_or(|on| on.contains(name.as_str())))
            .filter(|name| off.as_ref().is_none_or(|off| !off.contains(name.as_str())))
            .collect()
    }

    fn lead(&self, name: &str, way: &mut OwnWay) {
        let provider = self.settings.get("provider").and_then(|all| all.get(name));
        let text = |place: &str| {
            let found = provider.and_then(|it| it.pointer(place));
            found
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
        };
        let known = KNOWN.iter().find(|server| server.name == name);
        let login = self.login.get(name);
        let login_text = |key: &str| login.and_then(|it| it.get(key)?.as_str());
        let login_key = login_text("key").filter(|_| login_text("type") == Some("api"));
        let key = text("/options/apiKey").or(login_key);
        let named = text("/options/baseURL").or_else(|| text("/api"));
        if key.is_none() && login.is_some() || known.is_some_and(|it| it.base_url.is_empty()) {
            let hosts = known.map_or(&[][..], |it| it.login_hosts);
            way.hosts
                .extend(hosts.iter().map(|host| (*host).to_owned()));
            if hosts.is_empty() {
                way.unknown.push(name.to_owned());
            }
            return;
        }
        let headers = self.headers(name);
        if key.is_none() && named.is_none() {
            // listed for its models only: opencode does not offer it
            return;
        }
        let base_url = named.or(known.map(|it| it.base_url));
        let Some(server) = base_url.and_then(Server::parse) else {
            way.unknown.push(name.to_owned());
            return;
        };
        let is_safe = server.url.starts_with("https:") || server.loopback().is_some();
        match credentials(key, text("/npm").unwrap_or(name), &headers).filter(|_| is_safe) {
            Some(credentials) => way.servers.push(ModelServer {
                name: name.to_owned(),
                server,
                credentials,
            }),
            // no credential is sent in plain text from here; the CLI does what its settings say
            None => way.open(&server),
        }
    }

    /// Returns the headers that the settings add to each request.
    fn headers(&self, name: &str) -> Vec<(&str, &str)> {
        let place = ["provider", name, "options", "headers"];
        let found = place.iter().try_fold(&self.settings, |at, key| at.get(key));
        let members = found.and_then(Value::as_object).into_iter().flatten();
        members
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
            .collect()
    }
}

impl OwnWay {
    /// Opens a server to the CLI itself.
    fn open(&mut self, server: &Server) {
        match server.loopback() {
            Some(address) => self.relays.push(address),
            None => self.hosts.push(server.entry()),
        }
    }
}

/// Returns the headers of a provider's credential by what its requests are made with; `None` if they cannot be sent.
fn credentials(
    key: Option<&str>,
    made_with: &str,
    headers: &[(&str, &str)],
) -> Option<Vec<Credential>> {
    let key = key.map(|key| match made_with {
        "@ai-sdk/anthropic" | "anthropic" => ("x-api-key", key.to_owned()),
        "@ai-sdk/google" | "google" => ("x-goog-api-key", key.to_owned()),
        _ => ("authorization", format!("Bearer {key}")),
    });
    let others = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    key.into_iter()
        .chain(others)
        .map(|(name, value)| Credential::new(name, Secret::new(&value).ok()?).ok())
        .collect()
}

fn find_addresses(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| find_addresses(item, found)),
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str().filter(|_| name == "baseUrl") {
                    Some(url) => {
                        found.insert(url.to_owned());
                    }
                    None => find_addresses(member, found),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
