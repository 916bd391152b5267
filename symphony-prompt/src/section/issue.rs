//! Sections about the issue itself: header, description, dependencies.

use std::borrow::Cow;
use std::fmt::Write as _;

use symphony_core::issue::Priority;

use crate::budget::DEPENDENCIES_MAX;
use crate::fence::Fenced;
use crate::hidden::one_line;
use crate::input::{DependencyInput, IssueInput, Workspace};
use crate::report::ItemsKept;
use crate::section::fit::{Fitter, fit_text, stripped_end};
use crate::section::{Fit, Piece, SectionDraft, SectionName};
use crate::truncate::limit_head;

/// Longest title, in characters: the MCP server takes no longer one.
const TITLE_CHARS_MAX: u64 = 300;
/// Longest label or other name outside a fence, in characters.
const NAME_CHARS_MAX: u64 = 100;
/// Labels shown: the MCP server takes no more.
const LABELS_MAX: usize = 50;

/// Makes one line of a title.
pub(crate) fn title_line(title: &str) -> Cow<'_, str> {
    match one_line(title) {
        Cow::Borrowed(line) => limit_head(line, TITLE_CHARS_MAX),
        Cow::Owned(line) => limit_head(&line, TITLE_CHARS_MAX).into_owned().into(),
    }
}

/// Makes one short line of a name.
pub(crate) fn name_line(name: &str) -> String {
    limit_head(&one_line(name), NAME_CHARS_MAX).into_owned()
}

/// The issue's header. `place` is given for those whose header repeats where they work.
pub(crate) fn header<'a>(
    issue: &IssueInput,
    place: Option<&Workspace>,
    notes: &[String],
) -> SectionDraft<'a> {
    let mut text = format!("# {}: {}\n", issue.identifier, title_line(&issue.title));
    if let Some(place) = place {
        let branch = place.branch.as_deref().unwrap_or("(detached)");
        write!(
            text,
            "\n> **Working in**: `{}` | **Branch**: `{}`\n",
            one_line(&place.path),
            one_line(branch)
        )
        .expect("writing to a String cannot fail");
    }
    let mut facts = Vec::new();
    if issue.priority != Priority::None {
        facts.push(format!("**Priority**: {}", issue.priority));
    }
    if let Some(size) = issue.size {
        facts.push(format!("**Size**: {size}"));
    }
    if !issue.labels.is_empty() {
        let labels: Vec<String> = issue
            .labels
            .iter()
            .take(LABELS_MAX)
            .map(|label| name_line(label))
            .collect();
        facts.push(format!("**Labels**: {}", labels.join(", ")));
    }
    if !facts.is_empty() {
        text.push('\n');
        text.push_str(&facts.join(" | "));
        text.push('\n');
    }
    for note in notes {
        text.push_str("\n**Note**: ");
        text.push_str(&one_line(note));
        text.push('\n');
    }
    SectionDraft::new(
        SectionName::Header,
        vec![Piece::text(text), Piece::FenceNote],
    )
}

/// The description, by the text rule.
pub(crate) fn description<'a>(
    issue: &'a IssueInput,
    cap: symphony_core::unit::Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let whole = issue.description.trim_end();
    let stripped = stripped_end(whole, cap, fitter.counter);
    if stripped.trim().is_empty() {
        return SectionDraft::new(SectionName::Description, Vec::new());
    }
    let (text, mut fit) = fit_text(stripped, cap, fitter.counter);
    if let Some((from, _)) = &mut fit.cut {
        *from = fitter.counter.count(whole);
    }
    let pieces = if text.is_empty() {
        Vec::new()
    } else {
        let author = issue
            .author
            .as_ref()
            .map_or("the issue's author", |author| author.name());
        vec![
            Piece::text("## Description\n"),
            Piece::Fenced(Fenced {
                origin: format!("description of {}", issue.identifier).into(),
                author: author.into(),
                text,
            }),
        ]
    };
    SectionDraft::fitted(SectionName::Description, pieces, fit)
}

/// The issues this one depends on, each with its status.
pub(crate) fn dependencies<'a>(dependencies: &[DependencyInput]) -> SectionDraft<'a> {
    if dependencies.is_empty() {
        return SectionDraft::new(SectionName::Dependencies, Vec::new());
    }
    let kept = kept_dependencies(dependencies);
    let lines: Vec<String> = kept
        .iter()
        .map(|dependency| {
            format!(
                "- {} ({}): {}",
                dependency.identifier,
                dependency.status,
                title_line(&dependency.title)
            )
        })
        .collect();
    let mut text = format!("## Dependencies\n\n{}", lines.join("\n"));
    let more = dependencies.len() - kept.len();
    if more > 0 {
        text.push_str(&format!("\n- and {more} more; `get_issue` lists them"));
    }
    let fit = Fit {
        items: Some(ItemsKept::counted(dependencies.len(), kept.len())),
        ..Fit::default()
    };
    SectionDraft::fitted(SectionName::Dependencies, vec![Piece::text(text)], fit)
}

/// The dependencies that are shown, in their order. Of too many, those that have not ended go first: what is merged can be seen
/// in the code.
fn kept_dependencies(dependencies: &[DependencyInput]) -> Vec<&DependencyInput> {
    let is_open = |dependency: &DependencyInput| !dependency.status.is_terminal();
    let mut places: Vec<usize> = (0..dependencies.len()).collect();
    places.sort_by_key(|place| {
        dependencies
            .get(*place)
            .is_none_or(|dependency| !is_open(dependency))
    });
    places.truncate(DEPENDENCIES_MAX);
    places.sort_unstable();
    places
        .into_iter()
        .filter_map(|place| dependencies.get(place))
        .collect()
}
