//! cargo's downloads.
//!
//! Cargo opens a crate that it has for reading, and makes the files of others beside it, so the folder is the sandbox's
//! own and each crate in it a link. Of the index the whole folder is a link: cargo only warns when it cannot write there.
//! Sources are linked as well, since otherwise cargo would unpack them at each start.
//!
//! For a repository, cargo fetches into a bare clone. That is the sandbox's own, and borrows the objects of the
//! user's. Settings and the record of the last fetch are not shown, because addresses in them may hold a password.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Item, LINKS_MAX, names_in};

/// The settings of a bare clone.
const BARE: &[u8] = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n";

/// One kind of what a registry has: a folder of the cache, by registry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Registry {
    /// The folder below `registry`, such as `cache/index.crates.io-1949cf8c6b5b557f`.
    below: PathBuf,
    /// What is in it.
    names: Vec<OsString>,
}

/// A repository that cargo cloned.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clone {
    /// Its name.
    pub(super) name: String,
    /// Its checkouts, by commit.
    commits: Vec<OsString>,
}

/// Lists the user's `registry`.
pub(super) fn look_at_registries(registry: &Path) -> Vec<Registry> {
    let of_kind = |kind: &'static str| {
        let folder = registry.join(kind);
        names_in(&folder).into_iter().map(move |name| {
            let below = Path::new(kind).join(name);
            let names = names_in(&registry.join(&below));
            Registry { below, names }
        })
    };
    let indexes = names_in(&registry.join("index"));
    std::iter::once(Registry {
        below: "index".into(),
        names: indexes,
    })
    .chain(of_kind("cache"))
    .chain(of_kind("src"))
    .collect()
}

/// Lists the user's `git`.
pub(super) fn look_at_repositories(git: &Path) -> Vec<Clone> {
    let clones = names_in(&git.join("db")).into_iter().filter_map(|name| {
        let name = name.into_string().ok()?;
        let commits = names_in(&git.join("checkouts").join(&name));
        Some(Clone { name, commits })
    });
    clones.collect()
}

/// Returns what the sandbox's own `registry` has.
pub(super) fn registry_items(registries: &[Registry], seen: &Path) -> Vec<Item> {
    let links = registries.iter().flat_map(|registry| {
        let place = Path::new(".cargo/registry").join(&registry.below);
        let target = seen.join(&registry.below);
        let link = move |name: &OsString| Item::link(place.join(name), target.join(name));
        registry.names.iter().map(link)
    });
    links.take(LINKS_MAX).collect()
}

/// Returns what the sandbox's own clone has.
pub(super) fn repository_items(clone: &Clone, objects: &Path, checkouts: &Path) -> Vec<Item> {
    let own = Path::new(".cargo/git/db").join(&clone.name);
    let file = |name: &str, text: &[u8]| Item::File {
        place: own.join(name),
        text: text.to_vec(),
    };
    let mut borrowed = objects.as_os_str().as_bytes().to_vec();
    borrowed.push(b'\n');
    let mut all = vec![
        file("HEAD", b"ref: refs/heads/main\n"),
        file("config", BARE),
        file("objects/info/alternates", &borrowed),
        // libgit2 looks for the folder of packs before it makes one
        Item::Folder(own.join("objects/pack")),
        Item::Folder(own.join("refs")),
    ];
    let place = Path::new(".cargo/git/checkouts").join(&clone.name);
    let link = |commit: &OsString| Item::link(place.join(commit), checkouts.join(commit));
    all.extend(clone.commits.iter().take(LINKS_MAX).map(link));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_crate_is_a_link_and_its_folder_is_not() {
        let registries = [
            Registry {
                below: "index".into(),
                names: vec!["crates.io-1".into()],
            },
            Registry {
                below: "cache/crates.io-1".into(),
                names: vec!["itoa-1.0.0.crate".into(), "ryu-1.0.0.crate".into()],
            },
            Registry {
                below: "src/crates.io-1".into(),
                names: vec!["itoa-1.0.0".into()],
            },
        ];
        let linked = |below: &str| {
            Item::link(
                format!(".cargo/registry/{below}"),
                format!("/caches/cargo/{below}"),
            )
        };
        assert_eq!(
            registry_items(&registries, Path::new("/caches/cargo")),
            [
                linked("index/crates.io-1"),
                linked("cache/crates.io-1/itoa-1.0.0.crate"),
                linked("cache/crates.io-1/ryu-1.0.0.crate"),
                linked("src/crates.io-1/itoa-1.0.0"),
            ]
        );
    }

    #[test]
    fn a_clone_borrows_objects_and_has_settings_of_its_own() {
        let clone = Clone {
            name: "dep-1".to_owned(),
            commits: vec!["abc1234".into()],
        };
        let items = repository_items(&clone, Path::new("/o"), Path::new("/c"));
        let text = |name: &str| {
            items.iter().find_map(|item| match item {
                Item::File { place, text } if place.ends_with(name) => {
                    Some(String::from_utf8_lossy(text).into_owned())
                }
                _ => None,
            })
        };
        assert_eq!(text("objects/info/alternates").unwrap(), "/o\n");
        assert!(text("config").unwrap().contains("bare = true"));
        let checkout = Item::link(".cargo/git/checkouts/dep-1/abc1234", "/c/abc1234");
        assert!(items.contains(&checkout));
    }
}
