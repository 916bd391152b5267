//! Addresses of remotes.

/// Where a remote's address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAddress {
    /// The host, without user and port.
    pub host: String,
    /// Whose repository it is.
    pub owner: String,
    /// The repository's name, without `.git`.
    pub name: String,
}

/// Reads host, owner and name from an address as git takes it: `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, or
/// `git@host:owner/name.git`. `None` for a folder, and for paths of another shape.
pub fn read_address(address: &str) -> Option<RemoteAddress> {
    let (authority, path) = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git+ssh", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        // as git does: a slash before the colon makes it a path
        None => address
            .split_once(':')
            .filter(|(host, _)| !host.contains('/'))?,
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = host.split(':').next().unwrap_or(host);
    let path = path.trim_matches('/');
    let (owner, name) = path.split_once('/')?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    let is_part = |part: &str| !part.is_empty() && !part.contains('/');
    (is_part(owner) && is_part(name) && !host.is_empty()).then(|| RemoteAddress {
        host: host.to_ascii_lowercase(),
        owner: owner.to_owned(),
        name: name.to_owned(),
    })
}

/// Returns the part of an address that names the server, as it is written there; the whole address where it is a path.
pub(crate) fn server_of(address: &str) -> &str {
    let found = match address.split_once("://") {
        Some((scheme, rest)) => rest
            .split_once('/')
            .filter(|(authority, _)| !authority.is_empty())
            .map(|(authority, _)| scheme.len() + "://".len() + authority.len()),
        // as git does: a slash before the colon makes it a path
        None => address
            .split_once(':')
            .filter(|(host, _)| !host.contains('/'))
            .map(|(host, _)| host.len()),
    };
    found.and_then(|end| address.get(..end)).unwrap_or(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_of_one_server_are_known_by_their_addresses() {
        for (address, expected) in [
            (
                "ssh://git@hub.example:22/srv/api.git",
                "ssh://git@hub.example:22",
            ),
            ("git@hub.example:srv/api.git", "git@hub.example"),
            ("https://hub.example/api", "https://hub.example"),
            ("git://[::1]:9418/api", "git://[::1]:9418"),
            ("https://hub.example", "https://hub.example"),
            ("/srv/hub.git", "/srv/hub.git"),
            ("./odd:api", "./odd:api"),
            ("file:///srv/hub.git", "file:///srv/hub.git"),
        ] {
            assert_eq!(server_of(address), expected, "{address}");
        }
    }

    #[test]
    fn addresses_are_read_in_every_form_that_git_takes() {
        let web = |host: &str| {
            Some(RemoteAddress {
                host: host.to_owned(),
                owner: "acme".to_owned(),
                name: "web".to_owned(),
            })
        };
        for (address, expected) in [
            ("https://github.com/acme/web.git", web("github.com")),
            ("https://ada:token@GitHub.com/acme/web/", web("github.com")),
            ("git@github.com:acme/web.git", web("github.com")),
            ("github.com:/acme/web", web("github.com")),
            (
                "ssh://git@git.example.com:2222/acme/web.git",
                web("git.example.com"),
            ),
            ("/srv/git/acme/web.git", None),
            ("../acme/web", None),
            ("./odd:acme/web", None),
            ("file:///srv/acme/web", None),
            ("https://github.com/acme", None),
            ("https://example.com/group/sub/web", None),
        ] {
            assert_eq!(read_address(address), expected, "{address}");
        }
    }
}
