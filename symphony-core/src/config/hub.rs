//! The form of the address of a hub: the git repository that hosts share.

/// Checks an address: nothing that git takes for an option or for a program to run, no relative path, which is another place on another
/// host, and no password, since the address is kept in the database and shown.
pub(super) fn is_hub(text: &str) -> bool {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let is_place = match scheme {
        Some("ssh" | "https" | "http" | "git") => !authority.is_empty(),
        Some("file") => rest.starts_with('/'),
        Some(_) => false,
        // `git@host:path`
        None => {
            let host = authority.split_once(':').map(|(host, _)| host);
            text.starts_with('/')
                || host.is_some_and(|host| !host.is_empty()) && !text.contains("::")
        }
    };
    is_place && !authority.starts_with('-') && !user.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_is_a_place_that_other_hosts_reach() {
        for (text, expected) in [
            ("ssh://git@hub.example/srv/api.git", true),
            ("ssh://hub.example:2222/~/api", true),
            ("https://hub.example/api.git", true),
            ("git://hub.example/api.git", true),
            ("git@hub.example:srv/api.git", true),
            ("hub:api.git", true),
            ("/srv/api.git", true),
            ("file:///srv/api.git", true),
            ("srv/api.git", false),
            ("../api", false),
            ("~/api", false),
            ("file://srv/api", false),
            ("https://", false),
            (":api", false),
            // a program of its own
            ("ext::sh -c id", false),
            ("foo::/srv/api", false),
            ("ftp://hub.example/api", false),
            // an option
            ("--upload-pack=id", false),
            ("-oProxyCommand=id:api", false),
            ("ssh://-oProxyCommand=id/api", false),
            // a password
            ("https://me:hunter2@hub.example/api", false),
        ] {
            assert_eq!(is_hub(text), expected, "{text}");
        }
    }
}
