//! Merges what several sources report about one phase.

use std::collections::BTreeSet;

use crate::plan::artifact::{Artifact, ArtifactKind};

/// Merges the artifacts of one phase: what git saw, then what the agent claimed (markers, output lines, tool call).
///
/// What git saw overrides reported files on the same path. Artifacts with the same type and path (or name, or content)
/// are one: the first counts. Order is kept; linear but for ordered sets.
pub fn merge_artifacts(seen: Vec<Artifact>, claimed: Vec<Artifact>) -> Vec<Artifact> {
    let paths: BTreeSet<String> = seen
        .iter()
        .filter_map(file_path)
        .map(str::to_owned)
        .collect();
    let claimed = claimed
        .into_iter()
        .filter(|artifact| file_path(artifact).is_none_or(|path| !paths.contains(path)));
    let mut keys = BTreeSet::new();
    let mut merged: Vec<Artifact> = Vec::with_capacity(seen.len());
    for artifact in seen.into_iter().chain(claimed) {
        if keys.insert(key(&artifact)) {
            merged.push(artifact);
        }
    }
    merged
}

fn file_path(artifact: &Artifact) -> Option<&str> {
    use ArtifactKind::{FileCreated, FileDeleted, FileModified};
    matches!(artifact.kind, FileCreated | FileModified | FileDeleted)
        .then_some(artifact.path.as_deref())
        .flatten()
}

fn key(artifact: &Artifact) -> (ArtifactKind, Option<String>) {
    let subject = artifact
        .path
        .as_ref()
        .or(artifact.name.as_ref())
        .or(artifact.content.as_ref());
    (artifact.kind, subject.cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: ArtifactKind, path: &str, content: Option<&str>) -> Artifact {
        Artifact {
            kind,
            path: Some(path.to_owned()),
            name: None,
            content: content.map(str::to_owned),
            metadata: None,
        }
    }

    fn note(name: Option<&str>, content: &str) -> Artifact {
        Artifact {
            kind: ArtifactKind::Note,
            path: None,
            name: name.map(str::to_owned),
            content: Some(content.to_owned()),
            metadata: None,
        }
    }

    #[test]
    fn git_overrides_claims_on_files_and_doubles_count_once() {
        use ArtifactKind::{Export, FileCreated, FileDeleted, FileModified};
        let export = |content| file(Export, "a.rs", Some(content));
        let seen = vec![
            file(FileCreated, "a.rs", None),
            file(FileDeleted, "b.rs", None),
        ];
        let claimed = vec![
            file(FileModified, "a.rs", Some("claimed")),
            file(FileModified, "c.rs", Some("first")),
            file(FileModified, "c.rs", Some("second")),
            file(FileCreated, "c.rs", None),
            export("stays: not a report of a file"),
            note(None, "one"),
            note(Some("n"), "one"),
            note(Some("n"), "two"),
            note(None, "one"),
        ];
        let expected = vec![
            file(FileCreated, "a.rs", None),
            file(FileDeleted, "b.rs", None),
            file(FileModified, "c.rs", Some("first")),
            file(FileCreated, "c.rs", None),
            export("stays: not a report of a file"),
            note(None, "one"),
            note(Some("n"), "one"),
        ];
        assert_eq!(merge_artifacts(seen, claimed), expected);
    }
}
