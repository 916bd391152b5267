//! How the CLI of an agent reaches the API of its model: plain data, which decides how a sandbox leads there.

use std::ffi::{OsStr, OsString};

/// The API of a CLI's model.
#[derive(Debug)]
pub struct ModelApi {
    /// The variable that names another base URL, if there is one.
    pub base_url_variable: Option<&'static str>,
    /// The base URL otherwise; empty if it is not known.
    pub base_url: &'static str,
    /// The variables with a credential, the first that is set before the others.
    pub keys: &'static [ApiKey],
    /// The variable with further headers, a `Name: value` on each line.
    pub headers_variable: Option<&'static str>,
    /// The hosts that the CLI needs with a login of its own, to use it and to refresh it.
    pub login_hosts: &'static [&'static str],
    /// The hosts of the clouds whose API it can use: the variable that switches to it, and what its hosts are named by.
    pub clouds: &'static [CloudApi],
    /// Variables for a sandbox, where only the API can be reached.
    pub in_sandbox: &'static [(&'static str, &'static str)],
    /// Arguments that lead the CLI to another base URL, where the variable does not.
    pub arguments: fn(&str) -> Vec<String>,
    /// Where the login's document names its account. All of them must be the same for a login of the same account.
    pub account: &'static [&'static str],
    /// Where a token of the login names its account in itself, if it does.
    pub account_claim: Option<&'static str>,
    /// Where the login's document has what a refresh replaces.
    pub tokens: &'static [&'static str],
    /// Where the login's document has a key instead of tokens, if it can.
    pub key_in_login: Option<&'static str>,
}

/// A variable with a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiKey {
    /// The variable.
    pub variable: &'static str,
    /// The header that the credential is sent in.
    pub header: &'static str,
    /// What is before the credential in the header.
    pub scheme: &'static str,
}

/// The API of a cloud. It signs its requests itself, so its credentials cannot be kept out of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloudApi {
    /// The variable that switches to it.
    pub switch: &'static str,
    /// The variables that name the region, the first that is set.
    pub regions: &'static [&'static str],
    /// The region if none does.
    pub region: &'static str,
    /// Its hosts; `{}` is the region.
    pub hosts: &'static [&'static str],
}

impl CloudApi {
    /// Returns its hosts, if it is switched on.
    pub fn hosts(&self, variable: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
        if !variable(self.switch).is_some_and(|value| is_on(&value)) {
            return None;
        }
        let region = self.regions.iter().find_map(|name| variable(name));
        let region = region.as_deref().unwrap_or(self.region);
        let hosts = self.hosts.iter().map(|host| host.replace("{}", region));
        Some(hosts.collect())
    }
}

fn is_on(value: &str) -> bool {
    !matches!(value, "" | "0" | "false" | "no" | "off")
}

/// Returns a variable of an environment as text; one that is empty is not set.
pub(crate) fn text<'a>(
    environment: &'a std::collections::BTreeMap<OsString, OsString>,
    name: &str,
) -> Option<&'a str> {
    let value = environment.get(OsStr::new(name))?.to_str()?;
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::super::claude;

    #[test]
    fn a_cloud_that_is_switched_on_has_hosts_in_its_region() {
        let hosts = |set: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let mut clouds = claude::CLI.api.clouds.iter();
            clouds.find_map(|cloud| cloud.hosts(variable))
        };
        assert_eq!(hosts(&[]), None);
        assert_eq!(hosts(&[("CLAUDE_CODE_USE_BEDROCK", "0")]), None);
        let bedrock = hosts(&[
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("AWS_REGION", "eu-central-1"),
        ]);
        let bedrock = bedrock.unwrap();
        assert!(bedrock.contains(&"bedrock-runtime.eu-central-1.amazonaws.com".to_owned()));
        let vertex = hosts(&[("CLAUDE_CODE_USE_VERTEX", "1")]).unwrap();
        assert!(vertex.contains(&"us-east5-aiplatform.googleapis.com".to_owned()));
    }
}
