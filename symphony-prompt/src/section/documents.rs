//! The documents of a ticket: what earlier phases and the parent delivered.

use std::borrow::Cow;

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

/// The documents, which share `cap` tokens evenly; what one leaves over goes to the others.
pub(crate) fn documents<'a>(
    documents: &'a [PhaseArtifact],
    of: DocumentsOf,
    (cap, preference): (Tokens, Preference),
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
    let fitted = fit_artifacts(&texts, cap, preference, fitter.counter);
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

/// What the documents take when all are whole.
pub(crate) fn documents_need(documents: &[PhaseArtifact], counter: &dyn TokenCounter) -> Tokens {
    let texts = documents
        .iter()
        .map(|document| counter.count(&document.text));
    texts.sum()
}

/// Names a document in the line that opens it.
fn origin(document: &PhaseArtifact, shown: Shown) -> String {
    let parent = document
        .parent
        .as_ref()
        .map_or_else(String::new, |parent| format!(" of the parent {parent}"));
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
