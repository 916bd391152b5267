//! cargo's downloads.
//!
//! Cargo opens a crate that it has for reading, and makes the files of others beside it, so the folder is the sandbox's
//! own, and each crate in it that the checkout's lock files name is a link. Of the index the whole folder is a link: cargo only warns when it cannot write there.
//! Sources are linked as well, since otherwise cargo would unpack them at each start.
//!
//! For a repository, cargo fetches into a bare clone. That is the sandbox's own, and borrows the objects of the
//! user's. Settings and the record of the last fetch are not shown, because addresses in them may hold a password.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::item::Item;
use super::{LINKS_MAX, names_in};

/// The settings of a bare clone.
const BARE: &[u8] = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n";

/// A folder of the user's `registry` whose entries are linked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Linked {
    /// The folder below `registry`, such as `cache/index.crates.io-1949cf8c6b5b557f`.
    pub(super) below: PathBuf,
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
pub(super) fn look_at_registry(registry: &Path) -> Vec<Linked> {
    let mut folders = vec![PathBuf::from("index")];
    for kind in ["cache", "src"] {
        let names = names_in(&registry.join(kind)).into_iter();
        folders.extend(names.map(|name| Path::new(kind).join(name)));
    }
    let linked = folders.into_iter().map(|below| Linked {
        names: names_in(&registry.join(&below)),
        below,
    });
    linked.collect()
}

/// Returns the crates that a `Cargo.lock` names, such as `itoa-1.0.0`.
pub(super) fn crates_in(lock: &str) -> impl Iterator<Item = String> {
    let value = |line: &str, key: &str| {
        let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
        value.strip_suffix('"').map(str::to_owned)
    };
    let lines = lock.lines().zip(lock.lines().skip(1));
    lines.filter_map(move |(first, second)| {
        let (name, version) = (value(first, "name")?, value(second, "version")?);
        Some(format!("{name}-{version}"))
    })
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

/// Returns the links of a folder of the sandbox's own `registry`. `locked` are the crates that are needed; `None` for all.
pub(super) fn registry_items(
    linked: &Linked,
    seen: &Path,
    locked: Option<&BTreeSet<String>>,
) -> Vec<Item> {
    let place = Path::new(".cargo/registry").join(&linked.below);
    let is_needed = |name: &&OsString| {
        let text = name.to_string_lossy();
        let named = text.strip_suffix(".crate").unwrap_or(&text);
        linked.below == Path::new("index") || locked.is_none_or(|locked| locked.contains(named))
    };
    let link = |name: &OsString| Item::link(place.join(name), seen.join(name));
    let needed = linked.names.iter().filter(is_needed);
    needed.take(LINKS_MAX).map(link).collect()
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
    fn each_crate_of_a_lock_file_is_a_link() {
        let links = |below: &str, names: &[&str], locked: Option<&[&str]>| {
            let linked = Linked {
                below: below.into(),
                names: names.iter().map(OsString::from).collect(),
            };
            let locked =
                locked.map(|locked| locked.iter().map(|name| (*name).to_owned()).collect());
            let items = registry_items(&linked, Path::new("/run/c"), locked.as_ref());
            let texts = items.into_iter().map(|item| match item {
                Item::Link { place, target } => {
                    format!("{} {}", place.display(), target.display())
                }
                other => format!("{other:?}"),
            });
            texts.collect::<Vec<_>>()
        };
        let crates = ["itoa-1.0.0.crate", "ryu-1.0.0.crate"];
        let itoa = ".cargo/registry/cache/io-1/itoa-1.0.0.crate /run/c/itoa-1.0.0.crate";
        let ryu = ".cargo/registry/cache/io-1/ryu-1.0.0.crate /run/c/ryu-1.0.0.crate";
        for (locked, expected) in [
            (None, &[itoa, ryu][..]),
            (Some(&["ryu-1.0.0", "syn-1.0.0"][..]), &[ryu]),
            (Some(&[]), &[]),
        ] {
            assert_eq!(links("cache/io-1", &crates, locked), expected);
        }
        assert_eq!(
            links("src/io-1", &["itoa-1.0.0"], Some(&["itoa-1.0.0"])),
            [".cargo/registry/src/io-1/itoa-1.0.0 /run/c/itoa-1.0.0"]
        );
        assert_eq!(
            links("index", &["io-1"], Some(&[])),
            [".cargo/registry/index/io-1 /run/c/io-1"]
        );
    }

    #[test]
    fn a_lock_file_names_crates() {
        let lock = "version = 4\n\n[[package]]\nname = \"itoa\"\nversion = \"1.0.0\"\nsource = \"registry\"\n\
                    \n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\ndependencies = [\n \"itoa\",\n]\n";
        assert_eq!(
            crates_in(lock).collect::<Vec<_>>(),
            ["itoa-1.0.0", "shop-0.1.0"]
        );
        assert_eq!(crates_in("name = \"x\"\n").count(), 0);
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
