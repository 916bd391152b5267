//! The documents of a ticket: what earlier phases and the parent delivered.

use std::borrow::Cow;
use std::collections::BTreeSet;

use symphony_core::unit::Tokens;

use crate::fence::Fenced;
use crate::hidden::escape_hidden;
use crate::input::PhaseArtifact;
use crate::report::ItemsKept;
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName, title_line};
use crate::summary::{Preference, Shown, fit_artifacts};
use crate::tokens::TokenCounter;

/// Characters of a commit that name it.
const COMMIT_CHARS: usize = 12;

/// Who the documents are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentsOf {
    /// An agent that delivers a phase.
    Phase,
    /// A worker, a judge, or another agent that works on the issue as a whole.
    Ticket,
}

impl DocumentsOf {
    const fn name(self) -> SectionName {
        match self {
            Self::Phase => SectionName::PreviousArtifacts,
            Self::Ticket => SectionName::Documents,
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Phase => "## Previous Phase Artifacts\n",
            Self::Ticket => "## Documents of the Ticket\n",
        }
    }
}

/// The documents, which share `cap` tokens: evenly those of the issue and of its parent, and what one leaves over goes to the others;
/// then those of each level above that, which get what nearer ones leave.
pub(crate) fn documents<'a>(
    documents: &'a [PhaseArtifact],
    of: DocumentsOf,
    cap: Tokens,
    preference: Preference,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let given: Vec<&PhaseArtifact> = documents
        .iter()
        .filter(|document| !document.text.trim().is_empty())
        .collect();
    if given.is_empty() {
        return SectionDraft::new(of.name(), Vec::new());
    }
    let escaped: Vec<Cow<'a, str>> = given
        .iter()
        .map(|document| escape_hidden(document.text.trim()))
        .collect();
    let texts: Vec<&str> = escaped.iter().map(Cow::as_ref).collect();
    let levels: Vec<usize> = given.iter().map(|document| level(document)).collect();
    let fitted = fit_levels(&texts, &levels, cap, preference, fitter.counter);
    let count = |text: &str| fitter.counter.count(text);
    let from: Tokens = texts.iter().map(|text| count(text)).sum();
    let to: Tokens = fitted.iter().map(|(text, _)| count(text)).sum();
    let is_cut = fitted.iter().any(|(_, shown)| *shown != Shown::Whole);
    let kept = fitted
        .iter()
        .filter(|(_, shown)| *shown != Shown::Nothing)
        .count();
    let mut pieces = vec![Piece::text(of.heading())];
    let mut remarks = Vec::new();
    for (document, (text, shown)) in given.iter().zip(&fitted) {
        remarks.push(remark(document, *shown));
        pieces.push(Piece::Fenced(Fenced {
            origin: origin(document, *shown).into(),
            author: "the phase's agent".into(),
            text: Cow::Owned(text.clone().into_owned()),
        }));
    }
    let fit = Fit {
        cap: Some(cap),
        used: to,
        cut: is_cut.then_some((from, to)),
        items: Some(ItemsKept::counted(given.len(), kept)),
    };
    let mut draft = SectionDraft::fitted(of.name(), pieces, fit);
    let has_source = given.iter().any(|document| document.source.is_some());
    draft.note = (is_cut || has_source).then(|| remarks.join("; "));
    draft
}

/// Returns how near a document is: those of the issue and of its parent are the nearest.
fn level(document: &PhaseArtifact) -> usize {
    document.levels_above.max(1)
}

/// Fits texts into a cap level by level, the nearest first.
fn fit_levels<'t>(
    texts: &[&'t str],
    levels: &[usize],
    cap: Tokens,
    preference: Preference,
    counter: &dyn TokenCounter,
) -> Vec<(Cow<'t, str>, Shown)> {
    let mut fitted: Vec<Option<(Cow<'t, str>, Shown)>> = texts.iter().map(|_| None).collect();
    let mut left = cap;
    for level in levels.iter().copied().collect::<BTreeSet<usize>>() {
        let is_of_level = |at: &usize| levels.get(*at) == Some(&level);
        let places: Vec<usize> = (0..texts.len()).filter(is_of_level).collect();
        let here: Vec<&'t str> = places
            .iter()
            .filter_map(|at| texts.get(*at).copied())
            .collect();
        let shown = fit_artifacts(&here, left, preference, counter);
        let used: Tokens = shown.iter().map(|(text, _)| counter.count(text)).sum();
        left = Tokens::new(left.get().saturating_sub(used.get()));
        for (at, one) in places.into_iter().zip(shown) {
            if let Some(slot) = fitted.get_mut(at) {
                *slot = Some(one);
            }
        }
    }
    fitted.into_iter().flatten().collect()
}

/// What the documents take when all are whole.
pub(crate) fn documents_need(documents: &[PhaseArtifact], counter: &dyn TokenCounter) -> Tokens {
    let texts = documents
        .iter()
        .map(|document| counter.count(&document.text));
    texts.sum()
}

/// Names a document in the line that opens it.
fn origin(document: &PhaseArtifact, shown: Shown) -> String {
    let parent = match (&document.parent, document.levels_above) {
        (None, _) => String::new(),
        (Some(parent), 0 | 1) => format!(" of the parent {parent}"),
        (Some(above), levels) => format!(" of {above}, {levels} levels above,"),
    };
    let path = title_line(&document.path);
    let source = source(document).map_or_else(String::new, |source| format!(", from {source}"));
    let form = match (shown, &document.source) {
        (Shown::Whole, _) => String::new(),
        (Shown::Summary, _) => ", summarised; […] marks what is left out".to_owned(),
        (Shown::Shortened, _) => ", shortened; […] marks what is left out".to_owned(),
        (Shown::Nothing, None) => ", left out for lack of room: read the file".to_owned(),
        (Shown::Nothing, Some(_)) => ", left out for lack of room".to_owned(),
    };
    let whole = match &document.source {
        Some(source) if shown != Shown::Whole && is_plain(&document.path) => {
            format!(", whole by `git show {}:{path}`", source.commit)
        }
        _ => String::new(),
    };
    format!(
        "artifact of the phase {}{parent} in {path}{source}{form}{whole}",
        document.phase
    )
}

/// Says whether a path is the same text to a shell: a command that agents may run must not do anything else.
fn is_plain(path: &str) -> bool {
    path.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/'))
}

/// Says for the report how a document is shown, and where it is from.
fn remark(document: &PhaseArtifact, shown: Shown) -> String {
    let how = match shown {
        Shown::Whole => "whole",
        Shown::Summary => "summarised",
        Shown::Shortened => "shortened",
        Shown::Nothing => "no room",
    };
    let parent = document
        .parent
        .as_ref()
        .map_or_else(String::new, |parent| format!(" of {parent}"));
    let source = source(document).map_or_else(String::new, |source| format!(", from {source}"));
    format!("{}{parent}: {how}{source}", document.phase)
}

fn source(document: &PhaseArtifact) -> Option<String> {
    let source = document.source.as_ref()?;
    let commit = source.commit.get(..COMMIT_CHARS).unwrap_or(&source.commit);
    Some(format!("{} at {commit}", title_line(&source.branch)))
}
