//! The user's own proxy, which every connection of a run goes through.

use std::collections::BTreeMap;
use std::ffi::OsString;

use symphony_proxy::Upstream;

use super::error::NetworkError;
use crate::provider::api::text;

/// The variables that name it, the first that is set. Programs agree that the lower case wins.
const VARIABLES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
/// The variables that name the hosts that are reached without it.
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Reads the user's own proxy from the environment; `None` if there is none.
///
/// # Errors
/// When it is of another kind than `http`: without it, every connection would go past it or fail.
pub(crate) fn upstream(
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Option<Upstream>, NetworkError> {
    let first = |names: &[&'static str]| {
        let mut names = names.iter();
        names.find_map(|name| Some((*name, text(environment, name)?)))
    };
    let Some((variable, proxy)) = first(&VARIABLES) else {
        return Ok(None);
    };
    let exceptions = first(&EXCEPTIONS).map_or("", |(_, value)| value);
    Upstream::parse(proxy, exceptions)
        .map(Some)
        .map_err(|source| NetworkError::Upstream { variable, source })
}

#[cfg(test)]
mod tests {
    use symphony_proxy::Target;

    use super::*;

    #[test]
    fn the_users_proxy_is_taken_with_its_exceptions() {
        let found = |set: &[(&str, &str)]| {
            let environment = set
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            upstream(&environment)
        };
        assert!(found(&[]).unwrap().is_none());
        assert!(found(&[("HTTPS_PROXY", "")]).unwrap().is_none());
        let proxy = found(&[
            ("HTTPS_PROXY", "http://u:secret@p.example:8080"),
            ("NO_PROXY", "corp.example"),
        ]);
        let proxy = proxy.unwrap().unwrap();
        assert!(proxy.is_exception(&Target::parse("git.corp.example:443").unwrap()));
        assert!(!proxy.is_exception(&Target::parse("example.com:443").unwrap()));
        assert!(!format!("{proxy:?}").contains("secret"));
        let error = found(&[("ALL_PROXY", "socks5://p.example:1")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ALL_PROXY cannot be used: the address of the proxy is not valid: its scheme is `socks5`; expected `http`"
        );
    }
}
