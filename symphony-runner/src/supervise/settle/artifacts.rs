//! What a phase's run produced, as git saw it and as its agent claimed it (spec: plan, "Artifacts").

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::Path;

use symphony_core::plan::artifacts::{
    ReportedArtifacts, check_artifacts, merge_artifacts, parse_markers, parse_output_lines,
};
use symphony_core::plan::{Artifact, ArtifactKind};
use symphony_workspace::{ChangeKind, FileChange};

use crate::error::RunnerError;
use crate::stream::{AgentEvent, LineReader, StreamFormat};
use crate::supervise::Job;

/// Whether lines such as `Created file x` count: only if git cannot attribute changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputLines {
    Count,
    Ignored,
}

/// Merges what git saw with what the agent claimed: by markers, by lines of its text, by its call of `complete_phase`.
/// Invalid artifacts are logged and left out.
pub(super) fn collect(
    job: &Job<'_>,
    seen: &[FileChange],
    called: Vec<Artifact>,
    root: &Path,
    lines: OutputLines,
) -> Result<Vec<Artifact>, RunnerError> {
    let root = root.to_str();
    let format = job
        .installation
        .provider(&job.config)
        .map_or(StreamFormat::Claude, |call| call.format());
    let mut claimed = Vec::new();
    for_each_text(&job.paths.stream(), format, |text| {
        claimed.extend(taken("marker", parse_markers(text, root)));
        if lines == OutputLines::Count {
            claimed.extend(taken("line of output", parse_output_lines(text, root)));
        }
    })?;
    claimed.extend(taken("complete_phase", check_artifacts(called, root)));
    let seen = seen.iter().flat_map(seen_artifacts).collect();
    Ok(merge_artifacts(seen, claimed))
}

fn taken(source: &str, reported: ReportedArtifacts) -> Vec<Artifact> {
    for refused in &reported.refused {
        tracing::warn!(source, %refused, "an artifact was ignored");
    }
    reported.artifacts
}

/// A renamed file counts as one deleted and one created file.
fn seen_artifacts(change: &FileChange) -> Vec<Artifact> {
    let file = |kind, path: &str| Artifact {
        kind,
        path: Some(path.to_owned()),
        name: None,
        content: None,
        metadata: None,
    };
    match (change.kind, &change.old_path) {
        (ChangeKind::Added, _) => vec![file(ArtifactKind::FileCreated, &change.path)],
        (ChangeKind::Deleted, _) => vec![file(ArtifactKind::FileDeleted, &change.path)],
        (ChangeKind::Renamed, Some(old)) => vec![
            file(ArtifactKind::FileDeleted, old),
            file(ArtifactKind::FileCreated, &change.path),
        ],
        _ => vec![file(ArtifactKind::FileModified, &change.path)],
    }
}

/// Reads what the agent itself wrote from the raw output, which a dead supervisor also left.
fn for_each_text(
    path: &Path,
    format: StreamFormat,
    mut take: impl FnMut(&str),
) -> Result<(), RunnerError> {
    let failed = |error| RunnerError::io("read", path, error);
    let file = match symphony_workspace::open_own_file(path) {
        Ok(file) => file,
        // The run did not get as far as its agent.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let mut file = BufReader::new(file);
    let mut reader = LineReader::new(format);
    let (mut line, mut events) = (Vec::new(), Vec::new());
    // Lines were cut to their limit when they were written.
    while file.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        reader.take_line(&line, &mut events);
        for event in events.drain(..) {
            each(&event, &mut take);
        }
        line.clear();
    }
    reader.finish(&mut events);
    for event in &events {
        each(event, &mut take);
    }
    Ok(())
}

fn each(event: &AgentEvent, take: &mut impl FnMut(&str)) {
    if let AgentEvent::Text {
        text,
        subagent: false,
    } = event
    {
        take(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_is_a_file_that_is_gone_and_one_that_is_new() {
        let change = |kind, path: &str, old: Option<&str>| FileChange {
            path: path.into(),
            old_path: old.map(Into::into),
            kind,
            insertions: 0,
            deletions: 0,
            binary: false,
        };
        let table = [
            (change(ChangeKind::Added, "a", None), vec!["file_created a"]),
            (
                change(ChangeKind::Modified, "a", None),
                vec!["file_modified a"],
            ),
            (
                change(ChangeKind::TypeChanged, "a", None),
                vec!["file_modified a"],
            ),
            (
                change(ChangeKind::Deleted, "a", None),
                vec!["file_deleted a"],
            ),
            (
                change(ChangeKind::Renamed, "b", Some("a")),
                vec!["file_deleted a", "file_created b"],
            ),
        ];
        for (change, expected) in table {
            let found: Vec<String> = seen_artifacts(&change)
                .iter()
                .map(|artifact| format!("{} {}", artifact.kind, artifact.path.as_deref().unwrap()))
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn only_what_the_agent_itself_said_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stream.ndjson");
        let mut found = Vec::new();
        for_each_text(&path, StreamFormat::Claude, |text| {
            found.push(text.to_owned());
        })
        .unwrap();
        assert_eq!(found, [""; 0]);
        let said = |parent: &str, text: &str| {
            format!(
                r#"{{"type":"assistant","parent_tool_use_id":{parent},"message":{{"id":"m","content":[{{"type":"text","text":"{text}"}}]}}}}"#
            )
        };
        let lines = [
            said("null", "mine"),
            "broken".into(),
            said("\"t1\"", "a subagent's"),
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        for_each_text(&path, StreamFormat::Claude, |text| {
            found.push(text.to_owned());
        })
        .unwrap();
        assert_eq!(found, ["mine"]);
    }
}
