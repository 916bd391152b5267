//! The refs of a git folder, read as text (gitrepository-layout(5), the `files` format).

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::commit_id::CommitId;
use crate::git::is_ref_part;
use crate::linux::Folder;

/// Largest file of refs: 100,000 refs fit.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The most refs that are looked at: an agent can make any number.
const REFS_MAX: usize = 1_000;

/// How many names a symbolic ref may lead through, as in git.
const LINKS_MAX: usize = 5;

const BRANCHES: &str = "refs/heads";
const TAGS: &str = "refs/tags";
const STASH: &str = "refs/stash";

/// Whose tags a git folder has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tags {
    /// Those that the project gave it, which are not looked at.
    Given,
    /// Its own.
    Own,
}

/// Where git keeps the `HEAD`s of further worktrees.
const WORKTREES: &str = "worktrees";

/// What a git folder's refs say.
#[derive(Debug)]
pub(super) struct Refs {
    /// The commit that is checked out; `None` on a branch that has none yet.
    pub(super) head: Option<CommitId>,
    pub(super) branch: Option<String>,
    /// All branches.
    pub(super) branches: BTreeMap<String, CommitId>,
    /// Its own tags, of commits and of other objects.
    pub(super) tags: BTreeMap<String, CommitId>,
    /// The newest entry of the stash.
    pub(super) stash: Option<CommitId>,
    /// Commits that further worktrees have checked out without a branch, by the names of their refs.
    pub(super) worktrees: Vec<(String, CommitId)>,
    /// Loose refs that name no commit.
    pub(super) left_out: Vec<String>,
}

/// Reads `HEAD`, the branches and the stash. The worktree's own branch is read however many there are.
pub(super) fn read(folder: &Folder, own: Option<&str>, tags: Tags) -> io::Result<Refs> {
    let packed = read_text(folder, Path::new("packed-refs"))?.unwrap_or_default();
    let packed = parse_packed(&packed);
    let (branch, head) = resolve_head(folder, &packed)?;
    let mut all = packed
        .into_iter()
        .filter(|(name, _)| {
            name.starts_with("refs/heads/")
                || name == STASH
                || tags == Tags::Own && name.starts_with("refs/tags/")
        })
        .collect::<BTreeMap<_, _>>();
    let mut left_out = Vec::new();
    // A loose ref takes precedence over a packed one.
    for name in loose_names(folder, tags)? {
        match loose(folder, &name) {
            Ok(Some(Target::Commit(commit))) => {
                all.insert(name, commit);
            }
            Ok(_) => {}
            Err(_) if Some(&name) != branch.as_ref() => left_out.push(name),
            Err(error) => return Err(error),
        }
    }
    if let Some(own) = own
        && let Ok(Some(Target::Commit(commit))) = loose(folder, own)
    {
        all.insert(own.to_owned(), commit);
    }
    let stash = all.remove(STASH);
    let (tags, mut all) = all
        .into_iter()
        .partition::<BTreeMap<_, _>, _>(|(name, _)| name.starts_with("refs/tags/"));
    let own = own.and_then(|own| all.remove_entry(own));
    Ok(Refs {
        head,
        branch,
        branches: own
            .into_iter()
            .chain(all.into_iter().take(REFS_MAX))
            .collect(),
        tags: tags.into_iter().take(REFS_MAX).collect(),
        stash,
        worktrees: heads_of_worktrees(folder),
        left_out,
    })
}

/// Reads the detached `HEAD`s of worktrees that the agent added. What cannot be read is no commit that could be kept.
fn heads_of_worktrees(folder: &Folder) -> Vec<(String, CommitId)> {
    let names = folder.names(Path::new(WORKTREES)).unwrap_or_default();
    let names = names
        .into_iter()
        .take(REFS_MAX)
        .filter_map(|name| name.into_string().ok());
    names
        .filter_map(|name| {
            let reference = format!("{WORKTREES}/{name}/HEAD");
            match loose(folder, &reference).ok()?? {
                Target::Commit(commit) => Some((reference, commit)),
                Target::Name(_) => None,
            }
        })
        .collect()
}

/// What a ref's file says.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Commit(CommitId),
    Name(String),
}

fn parse_loose(text: &str) -> Option<Target> {
    let text = text.trim_end();
    match text.strip_prefix("ref:") {
        Some(name) => {
            is_name(name.trim_start()).then(|| Target::Name(name.trim_start().to_owned()))
        }
        None => CommitId::parse(text).ok().map(Target::Commit),
    }
}

/// Reads `packed-refs`: lines of an id and a name, with comments and the targets of tags between them.
fn parse_packed(text: &str) -> BTreeMap<String, CommitId> {
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    lines
        .filter_map(|line| {
            let (commit, name) = line.split_once(' ')?;
            let commit = CommitId::parse(commit).ok()?;
            is_name(name).then(|| (name.to_owned(), commit))
        })
        .collect()
}

/// Whether git would take a name (git-check-ref-format(1)), and it can be shown: no character in it changes the direction of the text.
fn is_name(name: &str) -> bool {
    const DIRECTIONS: [std::ops::RangeInclusive<char>; 2] =
        ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    name.starts_with("refs/")
        && name.len() < 1024
        && !name.contains(char::is_control)
        && !name
            .chars()
            .any(|c| DIRECTIONS.iter().any(|range| range.contains(&c)))
        && name
            .split('/')
            .all(|part| is_ref_part(part.as_bytes()) && !part.starts_with('-'))
}

fn resolve_head(
    folder: &Folder,
    packed: &BTreeMap<String, CommitId>,
) -> io::Result<(Option<String>, Option<CommitId>)> {
    let mut name = "HEAD".to_owned();
    let mut branch = None;
    for _ in 0..=LINKS_MAX {
        match loose(folder, &name)? {
            Some(Target::Commit(commit)) => return Ok((branch, Some(commit))),
            Some(Target::Name(next)) => {
                branch = Some(next.clone());
                name = next;
            }
            None => {
                let commit = packed.get(&name).cloned();
                if branch.is_none() {
                    return Err(wrong("there is no `HEAD`"));
                }
                return Ok((branch, commit));
            }
        }
    }
    Err(wrong("`HEAD` leads through too many names"))
}

fn loose(folder: &Folder, name: &str) -> io::Result<Option<Target>> {
    match read_text(folder, Path::new(name))? {
        None => Ok(None),
        Some(text) => parse_loose(&text)
            .map(Some)
            .ok_or_else(|| wrong(&format!("`{name}` is not a ref"))),
    }
}

/// Lists the loose branches and tags, and the stash. A folder that is too deep or too full is read in part.
fn loose_names(folder: &Folder, tags: Tags) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(BRANCHES)];
    open.extend((tags == Tags::Own).then(|| PathBuf::from(TAGS)));
    let mut looked = 0;
    while let Some(path) = open.pop() {
        let names = match folder.names(&path) {
            Ok(names) => names,
            // a file: a ref itself
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                found.extend(path.to_str().map(str::to_owned));
                continue;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for name in names {
            looked += 1;
            if looked <= REFS_MAX && !name.as_encoded_bytes().ends_with(b".lock") {
                open.push(path.join(name));
            }
        }
    }
    found.push(STASH.to_owned());
    found.retain(|name| is_name(name));
    Ok(found)
}

pub(super) fn read_text(folder: &Folder, path: &Path) -> io::Result<Option<String>> {
    let file = match folder.read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(wrong(&format!("`{}` is not a file", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > BYTES_MAX) {
        return Err(wrong(&format!("`{}` is larger than 8 MiB", path.display())));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_ref_is_a_commit_or_a_name_below_refs() {
        let name = |name: &str| Some(Target::Name(name.to_owned()));
        for (text, expected) in [
            (
                format!("{ID}\n").as_str(),
                Some(Target::Commit(CommitId::parse(ID).unwrap())),
            ),
            ("ref: refs/heads/a\n", name("refs/heads/a")),
            ("ref:refs/heads/a/b", name("refs/heads/a/b")),
            ("ref: ../../secret", None),
            ("ref: refs/heads/../../../secret", None),
            ("ref: /etc/passwd", None),
            ("ref: refs//a", None),
            ("ref: refs/heads/a b", None),
            ("ref: refs/heads/a:refs/heads/main", None),
            ("ref: refs/heads/--upload-pack=x", None),
            ("ref: refs/heads/\u{202e}niam", None),
            ("ref: refs/heads/a.lock", None),
            ("ref: refs/heads/a@{1}", None),
            ("ref: refs/heads/a\u{1b}[31m", None),
            ("0123", None),
            ("", None),
        ] {
            assert_eq!(parse_loose(text), expected, "{text:?}");
        }
    }

    #[test]
    fn packed_refs_are_lines_of_an_id_and_a_name() {
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{ID} refs/heads/a\n{ID} refs/tags/v1\n^{ID}\n{ID} ../x\nnonsense\n"
        );
        let names: Vec<String> = parse_packed(&text).into_keys().collect();
        assert_eq!(names, ["refs/heads/a", "refs/tags/v1"]);
    }

    proptest! {
        #[test]
        fn no_text_leads_out_of_the_folder(text in "\\PC{0,80}") {
            if let Some(Target::Name(name)) = parse_loose(&text) {
                let parts: Vec<_> = Path::new(&name).components().collect();
                let is_plain = |part: &std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
                prop_assert!(parts.iter().all(is_plain), "{name}");
            }
            parse_packed(&text);
        }
    }
}
