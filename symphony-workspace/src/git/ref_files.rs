//! Refs, read without a process where their files are as plain as git writes them.
//!
//! The loose ones come first and those in `packed-refs` last, as in git: what `git pack-refs` removes from the former it has
//! written into the latter, so that no ref is missed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::checkouts::is_object;
use super::plain_config::{Setting, plain_file};
use super::ref_name::is_ref_part;
use crate::own_file::{open_own_file, read_own_file};

/// How many folders a ref may be in. Git itself has no limit, but a name cannot have more than 4,096 bytes.
const DEPTH_MAX: usize = 50;
/// How many files and folders are looked at before git is asked, whose time and output have limits.
const ENTRIES_MAX: usize = 20_000;
/// The largest `packed-refs` that is read here: in a larger one, git finds refs faster, since it does not read all of it.
const PACKED_BYTES_MAX: u64 = 1024 * 1024;

/// The object of each ref by its full name.
pub(super) type Refs = BTreeMap<Vec<u8>, String>;

/// Returns what `git for-each-ref` says of the refs that are named, or are below a folder that is named; `None` unless all of
/// them, and whatever else lies there, are plain.
///
/// A link, a pipe, a ref that leads to another one, a name that git does not allow, a file that was cut short: what
/// git makes of these is its own to say.
pub(super) fn plain_refs(common: &Path, named: &[&str]) -> Option<Refs> {
    if !has_plain_refs(common) {
        return None;
    }
    let mut loose = Loose::default();
    for name in named {
        loose.read_named(common, name.trim_end_matches('/'))?;
    }
    let mut refs = read_packed(&common.join("packed-refs"))?;
    refs.extend(loose.refs);
    refs.retain(|name, _| named.iter().any(|named| covers(named.as_bytes(), name)));
    Some(refs)
}

/// Returns whether git takes this for a repository whose refs are files.
fn has_plain_refs(common: &Path) -> bool {
    let is_folder = |name: &str| common.join(name).is_dir();
    if !common.join("HEAD").is_file() || !is_folder("refs") || !is_folder("objects") {
        return false;
    }
    let is_odd = |Setting { name, value }: &Setting| match (name.as_str(), value.as_deref()) {
        ("core.bare", value) => !matches!(value, Some("true" | "false")),
        ("core.repositoryformatversion", value) => !matches!(value, Some("0" | "1")),
        // Refs may be kept in another form, and objects have longer names.
        (name, _) => name.starts_with("extensions."),
    };
    plain_file(&common.join("config")).is_some_and(|settings| !settings.iter().any(is_odd))
}

/// Returns whether a ref is the one that is named, or below it. A name that ends with a slash is a folder's.
fn covers(named: &[u8], name: &[u8]) -> bool {
    match name.strip_prefix(named) {
        Some([] | [b'/', ..]) => true,
        Some(_) => named.ends_with(b"/"),
        None => false,
    }
}

/// The refs that have a file each.
#[derive(Default)]
struct Loose {
    refs: Refs,
    /// How many files and folders were looked at.
    entries: usize,
}

impl Loose {
    fn read_named(&mut self, common: &Path, name: &str) -> Option<()> {
        let mut path = common.to_owned();
        let mut kind = None;
        // Beside `refs`, git has files that only look like refs.
        if name.split('/').next() != Some("refs") {
            return None;
        }
        for part in name.split('/') {
            path.push(Some(part).filter(|part| is_ref_part(part.as_bytes()))?);
            match fs::symlink_metadata(&path) {
                // Only the last part may be no folder.
                Ok(found) if kind.is_none_or(|kind: fs::FileType| kind.is_dir()) => {
                    kind = Some(found.file_type());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Some(()),
                Ok(_) | Err(_) => return None,
            }
        }
        self.read(&path, kind?, name.as_bytes().to_vec(), 0)
    }

    /// Reads a ref, or all in a folder.
    fn read(&mut self, path: &Path, kind: fs::FileType, name: Vec<u8>, depth: usize) -> Option<()> {
        if kind.is_file() {
            // It may have been removed or packed since the folder was read.
            if let Some(object) = unless_gone(read_object(path))? {
                self.refs.insert(name, object);
            }
            return Some(());
        }
        if !kind.is_dir() || depth == DEPTH_MAX {
            return None;
        }
        let Some(entries) = unless_gone(fs::read_dir(path))? else {
            return Some(());
        };
        for entry in entries {
            let entry = entry.ok()?;
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return None;
            }
            let part = entry.file_name();
            // A ref that is being written.
            if part.as_bytes().ends_with(b".lock") {
                continue;
            }
            if !is_ref_part(part.as_bytes()) {
                return None;
            }
            let name = [&name, &b"/"[..], part.as_bytes()].concat();
            self.read(&entry.path(), entry.file_type().ok()?, name, depth + 1)?;
        }
        Some(())
    }
}

/// Returns what was found, `Some(None)` if there is nothing any more; `None` for all other errors.
#[expect(clippy::option_option, reason = "what is unknown is left to git")]
fn unless_gone<T>(found: io::Result<T>) -> Option<Option<T>> {
    match found {
        Ok(found) => Some(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}

fn read_object(file: &Path) -> io::Result<String> {
    let bytes = read_own_file(file)?;
    let object = bytes.strip_suffix(b"\n").and_then(object);
    object.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))
}

/// Returns the name of an object that is written in full. Git takes a name of zeros for a broken ref.
fn object(text: &[u8]) -> Option<String> {
    let is_broken = text.iter().all(|byte| *byte == b'0');
    let text = Some(text).filter(|text| is_object(text) && !is_broken)?;
    String::from_utf8(text.to_vec()).ok()
}

fn read_packed(file: &Path) -> Option<Refs> {
    let Some(file) = unless_gone(open_own_file(file))? else {
        return Some(Refs::new());
    };
    let mut bytes = Vec::new();
    file.take(PACKED_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    let is_small = u64::try_from(bytes.len()).is_ok_and(|length| length <= PACKED_BYTES_MAX);
    is_small.then(|| packed(&bytes)).flatten()
}

/// Reads the text of `packed-refs`: a head, and the refs by their names, each with the object that a tag leads to in a line of
/// its own.
fn packed(bytes: &[u8]) -> Option<Refs> {
    let mut refs = Refs::new();
    let mut may_lead = false;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    lines.next_if(|line| line.starts_with(b"# pack-refs with:") && line.ends_with(b"\n"));
    for line in lines {
        let line = line.strip_suffix(b"\n")?;
        if let Some(leads_to) = line.strip_prefix(b"^") {
            object(leads_to).filter(|_| may_lead)?;
            may_lead = false;
            continue;
        }
        let (object, name) = (
            object(line.get(..40)?)?,
            line.get(40..)?.strip_prefix(b" ")?,
        );
        let is_plain =
            name.starts_with(b"refs/") && name.split(|byte| *byte == b'/').all(is_ref_part);
        // Git looks for refs where they are by their order.
        let is_sorted = refs
            .last_key_value()
            .is_none_or(|(last, _)| &last[..] < name);
        if !is_plain || !is_sorted {
            return None;
        }
        refs.insert(name.to_vec(), object);
        may_lead = true;
    }
    Some(refs)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;

    /// An object that no repository has.
    const OBJECT: &str = "0123456789012345678901234567890123456789";

    /// The git folder of a repository with an object that refs can have.
    struct Scratch {
        folder: TempDir,
        object: String,
    }

    impl Scratch {
        fn new() -> Self {
            let mut made = Self {
                folder: tempfile::tempdir().unwrap(),
                object: String::new(),
            };
            made.git(&["init", "-q", "--bare"], "").unwrap();
            let object = made.git(&["hash-object", "-w", "--stdin"], "text").unwrap();
            String::from_utf8(object)
                .unwrap()
                .trim_end()
                .clone_into(&mut made.object);
            made
        }

        fn path(&self, file: &str) -> PathBuf {
            self.folder.path().join(file)
        }

        #[expect(clippy::disallowed_methods, reason = "git is the reference")]
        fn git(&self, arguments: &[&str], input: &str) -> Option<Vec<u8>> {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), input).unwrap();
            let output = Command::new("git")
                .args(arguments)
                .current_dir(self.folder.path())
                .stdin(fs::File::open(file.path()).unwrap())
                .stderr(Stdio::null())
                .output()
                .unwrap();
            output.status.success().then_some(output.stdout)
        }

        fn write(&self, file: &str, text: &str) {
            let file = self.path(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }

        /// Writes loose refs.
        fn make(&self, names: &[&str]) {
            for name in names {
                self.write(name, &format!("{}\n", self.object));
            }
        }

        /// Has git pack all refs; returns how many there are then.
        fn pack(&self) -> usize {
            self.git(&["pack-refs", "--all", "--prune"], "").unwrap();
            let packed = fs::read_to_string(self.path("packed-refs")).unwrap();
            packed
                .lines()
                .filter(|line| line.contains(" refs/"))
                .count()
        }

        fn of_git(&self, named: &[&str]) -> Option<Vec<String>> {
            let list = ["for-each-ref", "--format=%(objectname) %(refname)"];
            let list = self.git(&[&list, named].concat(), "")?;
            let list = String::from_utf8_lossy(&list);
            Some(list.lines().map(str::to_owned).collect())
        }

        fn plain(&self, named: &[&str]) -> Option<Vec<String>> {
            let line = |(name, object): (Vec<u8>, String)| {
                format!("{object} {}", String::from_utf8_lossy(&name))
            };
            Some(
                plain_refs(self.folder.path(), named)?
                    .into_iter()
                    .map(line)
                    .collect(),
            )
        }
    }

    #[test]
    fn refs_are_read_as_git_lists_them() {
        let scratch = Scratch::new();
        let asked: [&[&str]; 9] = [
            &["refs/heads"],
            &["refs/heads/"],
            &["refs/"],
            &["refs"],
            &["refs/heads/main"],
            &["refs/heads/main/"],
            &["refs/heads/a", "refs/tags"],
            &["refs/heads/a/", "refs/heads/a/b"],
            &["refs/none", "refs/heads/no/ne"],
        ];
        let assert_same = |count: usize| {
            for named in asked {
                let found = scratch.plain(named);
                assert!(found.is_some(), "{named:?}");
                assert_eq!(found, scratch.of_git(named), "{named:?}");
            }
            assert_eq!(scratch.plain(&["refs/"]).unwrap().len(), count);
        };
        assert_same(0);
        let names = ["heads/main", "heads/main2", "heads/a/b", "heads/a-b"];
        scratch.make(
            &names
                .map(|name| format!("refs/{name}"))
                .each_ref()
                .map(String::as_str),
        );
        scratch.make(&["refs/tags/v1.0", "refs/tags/späť", "refs/x/heads/main"]);
        assert_same(7);
        // a ref that is being written, and one whose writer died
        scratch.write("refs/heads/new.lock", "");
        scratch.write("refs/heads/main.lock", OBJECT);
        assert_same(7);
        // some packed, one of them changed since, and folders that have become empty
        assert_eq!(scratch.pack(), 7);
        assert!(!scratch.path("refs/heads/main2").exists());
        scratch.make(&["refs/heads/z"]);
        scratch.write("refs/heads/a/b", &format!("{}\n", "e".repeat(40)));
        fs::create_dir_all(scratch.path("refs/heads/empty/folder")).unwrap();
        assert_same(8);
        assert!(scratch.plain(&["refs/heads/a"]).unwrap()[0].starts_with("eee"));
    }

    #[test]
    fn a_tag_of_an_object_is_read_with_what_it_leads_to_beside_it() {
        let scratch = Scratch::new();
        let tag = ["-c", "user.name=A", "-c", "user.email=a@localhost", "tag"];
        let tag = [&tag, &["-a", "-m", "x", "v1", &scratch.object][..]].concat();
        scratch.git(&tag, "").unwrap();
        assert_eq!(scratch.pack(), 1);
        let packed = fs::read_to_string(scratch.path("packed-refs")).unwrap();
        assert!(packed.contains("\n^"), "{packed}");
        let found = scratch.plain(&["refs/tags"]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(scratch.of_git(&["refs/tags"]), Some(found));
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        type Change = fn(&Scratch);
        let changes: [(&str, Change); 27] = [
            ("another form of refs", |s| {
                s.write("config", "[extensions]\n\trefstorage = reftable\n");
            }),
            ("settings that git has to read", |s| {
                s.write("config", "[include]\n\tpath = x\n");
            }),
            ("a ref that leads to another", |s| {
                s.write("refs/heads/a", "ref: refs/heads/main\n");
            }),
            ("a link to a ref", |s| {
                symlink("main", s.path("refs/heads/a")).unwrap();
            }),
            ("a link that leads nowhere", |s| {
                symlink("none", s.path("refs/heads/a")).unwrap();
            }),
            ("a link to a folder", |s| {
                symlink("../tags", s.path("refs/heads/a")).unwrap();
            }),
            ("a link above", |s| {
                fs::rename(s.path("refs/heads"), s.path("heads")).unwrap();
                symlink("../heads", s.path("refs/heads")).unwrap();
            }),
            ("a pipe", |s| {
                let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
                let pipe = s.path("refs/heads/a");
                rustix::fs::mknodat(rustix::fs::CWD, pipe, kind, mode, 0).unwrap();
            }),
            ("an empty ref", |s| s.write("refs/heads/a", "")),
            ("a ref that was cut short", |s| {
                let short = OBJECT.trim_end_matches('9');
                s.write("refs/heads/a", &format!("{short}\n"));
            }),
            ("a ref without its end", |s| s.write("refs/heads/a", OBJECT)),
            ("a ref with more", |s| {
                s.write("refs/heads/a", &format!("{OBJECT}\nx\n"));
            }),
            ("a ref of zeros", |s| {
                s.write("refs/heads/a", &format!("{}\n", "0".repeat(40)));
            }),
            ("large letters", |s| {
                s.write("refs/heads/a", &format!("{}\n", "A".repeat(40)));
            }),
            ("a name that git does not allow", |s| {
                s.make(&["refs/heads/a..b"]);
            }),
            ("a hidden file", |s| s.make(&["refs/heads/.a"])),
            ("many folders", |s| {
                s.make(&[&format!("refs/heads{}", "/a".repeat(60))]);
            }),
            ("packed refs out of order", |s| {
                s.write(
                    "packed-refs",
                    &format!("{OBJECT} refs/heads/b\n{OBJECT} refs/heads/a\n"),
                );
            }),
            ("a packed ref that leads to two objects", |s| {
                let to = format!("^{OBJECT}\n");
                s.write("packed-refs", &format!("{OBJECT} refs/heads/b\n{to}{to}"));
            }),
            ("no folder of objects", |s| {
                fs::remove_dir_all(s.path("objects")).unwrap();
            }),
            ("no head", |s| fs::remove_file(s.path("HEAD")).unwrap()),
            ("a version that git does not know", |s| {
                s.write("config", "[core]\n\trepositoryformatversion = 9\n");
            }),
            ("many files", |s| {
                for number in 0..=ENTRIES_MAX {
                    fs::write(s.path(&format!("refs/heads/{number}.lock")), "").unwrap();
                }
            }),
            ("packed refs that were cut short", |s| {
                s.write("packed-refs", &format!("{OBJECT} refs/heads/b"));
            }),
            ("a line in packed refs that is no ref", |s| {
                s.write("packed-refs", &format!("{OBJECT} refs/heads/b\n# x\n"));
            }),
            ("packed refs that are a link", |s| {
                symlink("HEAD", s.path("packed-refs")).unwrap();
            }),
            ("large packed refs", |s| {
                let line = |n: usize| format!("{OBJECT} refs/tags/{n:09}\n");
                s.write("packed-refs", &(0..20_000).map(line).collect::<String>());
            }),
        ];
        let scratch = Scratch::new();
        assert_eq!(scratch.plain(&["HEAD"]), None, "it is no ref");
        for (what, change) in changes {
            let scratch = Scratch::new();
            scratch.make(&["refs/heads/main", "refs/tags/v1"]);
            assert!(scratch.plain(&["refs/heads"]).is_some(), "{what}");
            change(&scratch);
            assert_eq!(scratch.plain(&["refs/heads"]), None, "{what}");
        }
    }

    #[test]
    fn no_ref_is_missed_while_git_packs_them() {
        let scratch = Scratch::new();
        let names: Vec<String> = (0..40).map(|n| format!("refs/heads/b/{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        scratch.make(&names);
        std::thread::scope(|scope| {
            let packing = scope.spawn(|| {
                for _ in 0..8 {
                    assert_eq!(scratch.pack(), names.len());
                    // loose again, as after a push
                    scratch.make(&names);
                }
            });
            let mut lists = 0;
            while !packing.is_finished() {
                // while a file is written over, it has no end yet
                if let Some(found) = scratch.plain(&["refs/heads"]) {
                    assert_eq!(found.len(), names.len());
                    lists += 1;
                }
            }
            assert!(lists > 8, "{lists}");
        });
    }

    /// Mostly names that git allows.
    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            9 => "refs/(heads|tags)(/[abc-]{1,2}){1,2}",
            1 => "refs/(heads|tags)(/[ab.@{~-]{1,3}){1,2}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn whatever_is_read_here_git_lists_in_the_same_way(
            loose in proptest::collection::vec((name(), prop_oneof![
                9 => "[0-9a-f]{40}\n",
                1 => "[0a]{38,41}[ \n]{0,2}|ref: refs/heads/a\n",
            ]), 0..5),
            packed in proptest::collection::vec(prop_oneof![
                9 => ("[0-9a-f]{40} ", name()).prop_map(|(object, name)| object + &name + "\n"),
                1 => "(\\^[0-9a-f]{40}|# ?[a-z-]{0,9}|[0-9a-f]{39,41} ?refs/heads/a)\n?",
            ], 0..5),
            has_head in any::<bool>(),
            is_sorted in any::<bool>(),
        ) {
            let scratch = Scratch::new();
            for (name, text) in &loose {
                let file = scratch.path(name);
                // where a file is in the place of a folder, there is no ref
                let _in_the_way = fs::create_dir_all(file.parent().unwrap())
                    .and_then(|()| fs::write(file, text));
            }
            let mut packed = packed;
            if is_sorted {
                packed.sort_by(|one, two| one.get(40..).cmp(&two.get(40..)));
            }
            let head = "# pack-refs with: peeled fully-peeled sorted \n";
            let head = if has_head { head } else { "" };
            scratch.write("packed-refs", &(head.to_owned() + &packed.concat()));
            for named in [&["refs/heads"][..], &["refs/tags/a", "refs/heads/a/"]] {
                if let Some(found) = scratch.plain(named) {
                    prop_assert_eq!(Some(found), scratch.of_git(named), "{:?} {:?}", loose, packed);
                }
            }
        }
    }
}
