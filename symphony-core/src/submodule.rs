//! What a change does to the submodules that a repository declares: where git would fetch them from, and where it puts
//! them.

use std::collections::{BTreeMap, BTreeSet};

/// What `.gitmodules` declares, by the submodules' names.
pub type Submodules = BTreeMap<String, Submodule>;

/// A submodule as `.gitmodules` declares it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submodule {
    /// Where it is in the checkout.
    pub path: String,
    /// Where git fetches it from.
    pub url: String,
    /// What `git submodule update` does with it, if that is set.
    pub update: String,
}

/// Reads the settings of `.gitmodules`, as `git config --list` names them (section and variable in lower case). The
/// last setting of a name counts, as for git.
pub fn read_submodules(settings: impl IntoIterator<Item = (String, String)>) -> Submodules {
    let mut found = Submodules::new();
    for (key, value) in settings {
        let named = key
            .strip_prefix("submodule.")
            .and_then(|rest| rest.rsplit_once('.'));
        let Some((name, variable)) = named else {
            continue;
        };
        let one = found.entry(name.to_owned()).or_default();
        match variable {
            "path" => one.path = value,
            "url" => one.url = value,
            "update" => one.update = value,
            _ => {}
        }
    }
    found
}

/// Describes each submodule that a change adds, removes, moves or fetches from elsewhere, in a sentence part of its
/// own, with what is unusual about its address.
pub fn submodule_changes(before: &Submodules, after: &Submodules) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |name: &String| match (before.get(name), after.get(name)) {
        (Some(_), None) => Some(format!("the submodule `{name}` is removed")),
        (None, Some(new)) => Some(with_warnings(
            format!("the submodule `{name}` is new, from `{}`", new.url),
            new,
        )),
        (Some(old), Some(new)) if old != new => {
            let mut parts = Vec::new();
            if old.url != new.url {
                parts.push(format!("is fetched from `{}`, not `{}`", new.url, old.url));
            }
            if old.path != new.path {
                parts.push(format!("moves from `{}` to `{}`", old.path, new.path));
            }
            if old.update != new.update {
                parts.push(format!("has the update command `{}`", new.update));
            }
            let text = format!("the submodule `{name}` {}", parts.join(" and "));
            Some(with_warnings(text, new))
        }
        _ => None,
    };
    names.into_iter().filter_map(change).collect()
}

fn with_warnings(text: String, new: &Submodule) -> String {
    let address = odd_address(&new.url);
    let update = (new.update.starts_with('!')).then_some("its update command runs a program");
    let path = (new.path.starts_with('-')).then_some("its path is an option of a command");
    let warnings: Vec<&str> = address.into_iter().chain(update).chain(path).collect();
    if warnings.is_empty() {
        return text;
    }
    format!("{text} ({})", warnings.join("; "))
}

/// Describes what is unusual about an address; `None` for https, ssh and a path relative to the repository's own
/// address.
fn odd_address(url: &str) -> Option<&'static str> {
    if url.starts_with('-') || url.contains("--upload-pack") {
        return Some("the address is an option of a command");
    }
    if let Some((scheme, _)) = url.split_once("::")
        && !scheme.contains(['/', '@'])
    {
        return Some("the address runs a program");
    }
    if url.chars().any(char::is_control) {
        return Some("the address has control characters");
    }
    match url.split_once("://") {
        Some(("https" | "ssh" | "git+ssh" | "ssh+git", _)) => None,
        Some(("file", _)) => Some("the address is a folder of this machine"),
        Some(("http" | "git" | "ftp", _)) => Some("the address is fetched without encryption"),
        Some(_) => Some("the address is of a kind that git does not know"),
        None if url.is_empty() => Some("it has no address"),
        None if url.starts_with("./") || url.starts_with("../") => None,
        // `host:path`, as ssh has it; a colon after a slash is part of a path.
        None if url.split('/').next().is_some_and(|host| host.contains(':')) => None,
        None => Some("the address is a folder of this machine"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(url: &str) -> Submodules {
        let setting =
            |variable: &str, value: &str| (format!("submodule.lib.{variable}"), value.to_owned());
        read_submodules([setting("path", "lib"), setting("url", url)])
    }

    #[test]
    fn usual_addresses_are_named_and_odd_ones_say_what_they_are() {
        for (url, odd) in [
            ("https://example.org/a.git", None),
            ("ssh://git@example.org/a.git", None),
            ("git@example.org:a/b.git", None),
            ("../sibling.git", None),
            ("ext::sh -c 'touch x'", Some("the address runs a program")),
            ("fd::7", Some("the address runs a program")),
            (
                "file:///srv/a",
                Some("the address is a folder of this machine"),
            ),
            ("/srv/a", Some("the address is a folder of this machine")),
            ("srv/a:b", Some("the address is a folder of this machine")),
            (
                "--upload-pack=touch x",
                Some("the address is an option of a command"),
            ),
            ("-u./x", Some("the address is an option of a command")),
            (
                "http://example.org/a",
                Some("the address is fetched without encryption"),
            ),
            (
                "https://example.org/\na",
                Some("the address has control characters"),
            ),
            (
                "odd://x",
                Some("the address is of a kind that git does not know"),
            ),
            ("", Some("it has no address")),
        ] {
            let changes = submodule_changes(&Submodules::new(), &declared(url));
            let text = format!("the submodule `lib` is new, from `{url}`");
            let expected = odd.map_or_else(|| text.clone(), |odd| format!("{text} ({odd})"));
            assert_eq!(changes, [expected], "{url}");
        }
    }

    #[test]
    fn each_kind_of_change_is_named_and_no_change_is_none() {
        let before = declared("https://example.org/a");
        assert_eq!(submodule_changes(&before, &before), Vec::<String>::new());
        let mut after = before.clone();
        if let Some(lib) = after.get_mut("lib") {
            lib.url = "file:///a".to_owned();
            lib.path = "vendor/lib".to_owned();
            lib.update = "!sh x".to_owned();
        }
        assert_eq!(
            submodule_changes(&before, &after),
            [
                "the submodule `lib` is fetched from `file:///a`, not `https://example.org/a` and moves from `lib` to `vendor/lib` and \
                 has the update command `!sh x` (the address is a folder of this machine; its update command runs a program)"
            ]
        );
        assert_eq!(
            submodule_changes(&before, &Submodules::new()),
            ["the submodule `lib` is removed"]
        );
    }
}
