//! Reading what an agent says it produced.

use crate::plan::artifact::{Artifact, ArtifactKind};
use crate::plan::path::{PathRefusal, normalise_path};

/// What begins a line that holds an artifact.
pub const ARTIFACT_MARKER: &str = "[SYMPHONY:ARTIFACT]";
/// Most artifacts that one run may report: as many paths as anyone reads, and a bound on what a flood can store.
pub const ARTIFACTS_MAX: usize = 1_000;
/// Longest content of an artifact, in bytes: the limit of every text field of the tools.
pub const ARTIFACT_CONTENT_BYTES_MAX: usize = 64 * 1024;

/// Valid artifacts, and invalid ones with the reason.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportedArtifacts {
    /// The valid ones; paths are relative to the project.
    pub artifacts: Vec<Artifact>,
    /// What is not.
    pub refused: Vec<RefusedArtifact>,
}

/// An artifact that is ignored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("artifact {place}: {reason}")]
pub struct RefusedArtifact {
    /// Line of the text, or position in the list, from 1.
    pub place: usize,
    /// What is wrong.
    pub reason: String,
}

impl ReportedArtifacts {
    fn take(&mut self, place: usize, artifact: Result<Artifact, String>, root: Option<&str>) {
        let checked = artifact.and_then(|artifact| check(artifact, root));
        match checked {
            Ok(_) if self.artifacts.len() >= ARTIFACTS_MAX => self.refuse_the_rest(place),
            Ok(artifact) => self.artifacts.push(artifact),
            Err(reason) if self.refused.len() < ARTIFACTS_MAX => {
                self.refused.push(RefusedArtifact { place, reason });
            }
            Err(_) => {}
        }
    }

    fn refuse_the_rest(&mut self, place: usize) {
        let reason = format!("a run may report {ARTIFACTS_MAX} artifacts; the rest is ignored");
        if self.refused.last().is_none_or(|last| last.reason != reason) {
            self.refused.push(RefusedArtifact { place, reason });
        }
    }
}

/// Reads the markers in an agent's text: lines that begin with `[SYMPHONY:ARTIFACT]` and continue with a JSON object.
///
/// `root` is the absolute path of the working directory: paths below it count as relative to it.
pub fn parse_markers(text: &str, root: Option<&str>) -> ReportedArtifacts {
    let mut reported = ReportedArtifacts::default();
    for (index, line) in text.lines().enumerate() {
        let Some(json) = line.trim_start().strip_prefix(ARTIFACT_MARKER) else {
            continue;
        };
        let artifact = serde_json::from_str::<Artifact>(json.trim()).map_err(|error| {
            let full = error.to_string();
            full.split(" at line ").next().unwrap_or("").to_owned()
        });
        reported.take(index + 1, artifact, root);
    }
    reported
}

/// Parses lines such as `Created file src/a.rs`, `Modified src/a.rs`, `Deleted src/a.rs`: for runs without a worktree,
/// where git cannot attribute changes.
///
/// A line counts only if nothing follows the path, so that a sentence that begins with `Modified` does not.
pub fn parse_output_lines(text: &str, root: Option<&str>) -> ReportedArtifacts {
    const VERBS: [(&str, ArtifactKind); 3] = [
        ("Created file ", ArtifactKind::FileCreated),
        ("Modified ", ArtifactKind::FileModified),
        ("Deleted ", ArtifactKind::FileDeleted),
    ];
    let mut reported = ReportedArtifacts::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches(['-', '*', ' ']);
        let stated = VERBS
            .into_iter()
            .find_map(|(verb, kind)| Some((line.strip_prefix(verb)?, kind)));
        let Some((rest, kind)) = stated else { continue };
        let Some(path) = lone_path(rest.strip_prefix("file ").unwrap_or(rest)) else {
            continue;
        };
        let artifact = Artifact {
            kind,
            path: Some(path.to_owned()),
            name: None,
            content: None,
            metadata: None,
        };
        reported.take(index + 1, Ok(artifact), root);
    }
    reported
}

/// Checks artifacts that came as values, such as those of the tool `complete_phase`.
pub fn check_artifacts(artifacts: Vec<Artifact>, root: Option<&str>) -> ReportedArtifacts {
    let mut reported = ReportedArtifacts::default();
    for (index, artifact) in artifacts.into_iter().enumerate() {
        reported.take(index + 1, Ok(artifact), root);
    }
    reported
}

fn check(mut artifact: Artifact, root: Option<&str>) -> Result<Artifact, String> {
    use ArtifactKind::{Export, FileCreated, FileDeleted, FileModified, Note};
    let kind = artifact.kind;
    if let Some(path) = &artifact.path {
        let path = normalise_path(path, root)
            .map_err(|refusal: PathRefusal| format!("`{}`: {refusal}", shortened(path)))?;
        artifact.path = Some(path);
    }
    if artifact.content.as_ref().map_or(0, String::len) > ARTIFACT_CONTENT_BYTES_MAX {
        return Err(format!(
            "the content is longer than {ARTIFACT_CONTENT_BYTES_MAX} bytes"
        ));
    }
    let is_blank = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
    let missing = match kind {
        FileCreated | FileModified | FileDeleted => artifact.path.is_none().then_some("`path`"),
        Export => (is_blank(&artifact.name) && artifact.path.is_none()).then_some("`name`"),
        Note => (is_blank(&artifact.content) && is_blank(&artifact.name)).then_some("`content`"),
    };
    match missing {
        Some(field) => Err(format!("an artifact of type `{kind}` needs {field}")),
        None => Ok(artifact),
    }
}

/// Returns a path that is alone on its line, bare or in quotes.
fn lone_path(text: &str) -> Option<&str> {
    let text = text.trim();
    for quote in ['`', '"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            let (path, rest) = inner.split_once(quote)?;
            return rest.trim_matches('.').is_empty().then_some(path);
        }
    }
    let path = text.strip_suffix('.').unwrap_or(text);
    (!path.is_empty() && !path.contains(char::is_whitespace)).then_some(path)
}

fn shortened(text: &str) -> &str {
    text.get(..text.floor_char_boundary(200)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(json: &str) -> Artifact {
        serde_json::from_str(json).unwrap()
    }

    fn refused(place: usize, reason: &str) -> RefusedArtifact {
        RefusedArtifact {
            place,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn markers_are_read_or_refused_with_a_reason() {
        let text = concat!(
            "Done.\n",
            "  [SYMPHONY:ARTIFACT] {\"type\":\"file_created\",\"path\":\"./src/a.rs\"}\r\n",
            "I wrote [SYMPHONY:ARTIFACT] {} in a sentence\n",
            "[SYMPHONY:ARTIFACT]{\"type\":\"note\",\"content\":\"n\",\"more\":1}\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"file\"}\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"export\"\n",
            "[SYMPHONY:ARTIFACT]\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"file_deleted\",\"path\":\"../x\"}\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"file_deleted\"}\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"export\",\"name\":\" \"}\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"note\",\"metadata\":{\"a\":1}}\n",
            "[SYMPHONY:ARTIFACT] {\"type\":\"file_modified\",\"path\":\"/w/b.rs\",\"metadata\":{\"a\":1}}",
        );
        let expected = ReportedArtifacts {
            artifacts: vec![
                artifact("{\"type\":\"file_created\",\"path\":\"src/a.rs\"}"),
                artifact("{\"type\":\"note\",\"content\":\"n\"}"),
                artifact("{\"type\":\"file_modified\",\"path\":\"b.rs\",\"metadata\":{\"a\":1}}"),
            ],
            refused: vec![
                refused(
                    5,
                    "`file` is not a valid artifact type; expected one of: file_created, file_modified, file_deleted, export, note",
                ),
                refused(6, "EOF while parsing an object"),
                refused(7, "EOF while parsing a value"),
                refused(8, "`../x`: the path is outside the project"),
                refused(9, "an artifact of type `file_deleted` needs `path`"),
                refused(10, "an artifact of type `export` needs `name`"),
                refused(11, "an artifact of type `note` needs `content`"),
            ],
        };
        assert_eq!(parse_markers(text, Some("/w")), expected);
    }

    #[test]
    fn output_lines_name_a_path_and_nothing_else() {
        let text = "Created file src/a.rs\n- Modified `src/b c.rs`.\nDeleted file old.rs.\n\
                    Modified the parser so that it works\nCreated src/c.rs\nDeleted /etc/passwd\n";
        let reported = parse_output_lines(text, None);
        let seen: Vec<_> = reported
            .artifacts
            .iter()
            .map(|a| (a.kind.name(), a.path.as_deref().unwrap()))
            .collect();
        assert_eq!(
            seen,
            [
                ("file_created", "src/a.rs"),
                ("file_modified", "src/b c.rs"),
                ("file_deleted", "old.rs")
            ]
        );
        assert_eq!(
            reported.refused,
            [refused(6, "`/etc/passwd`: the path is outside the project")]
        );
    }

    #[test]
    fn a_flood_of_claims_is_bounded() {
        let line = "[SYMPHONY:ARTIFACT] {\"type\":\"note\",\"content\":\"n\"}\n";
        let reported = parse_markers(&line.repeat(ARTIFACTS_MAX + 5), None);
        assert_eq!(reported.artifacts.len(), ARTIFACTS_MAX);
        assert_eq!(reported.refused.len(), 1);
        let bad = "[SYMPHONY:ARTIFACT] x\n".repeat(ARTIFACTS_MAX + 5);
        assert_eq!(parse_markers(&bad, None).refused.len(), ARTIFACTS_MAX);
    }
}
