//! The section that says that a session continues, and what the base has since then.

use std::borrow::Cow;

use symphony_core::wording::counted;

use crate::fence::Fenced;
use crate::hidden::strip_hidden;
use crate::input::{BaseNews, ResumedInput};
use crate::section::{Piece, SectionDraft, SectionName, name_line, title_line};

/// Most commits of the base that are named; the rest is counted. An agent that needs more asks git.
const SUBJECTS_MAX: usize = 20;

const GOES_ON: &str = "## This Session Goes On\n\n\
    This is the next run of the same task, in the session of your last run. What you were given then still applies. This message has what \
    is sent to every run, and what is new since your last run began. Files may have changed meanwhile: read them again before you rely \
    on what you remember of them.";

/// Adds the section after the header, or at the beginning where there is none.
pub(crate) fn add_resumed<'a>(sections: &mut Vec<SectionDraft<'a>>, resumed: &'a ResumedInput) {
    let header = sections
        .iter()
        .position(|section| section.name == SectionName::Header);
    let place = header.map_or(0, |place| place + 1);
    sections.insert(place, draft(resumed));
}

fn draft(resumed: &ResumedInput) -> SectionDraft<'_> {
    let mut pieces = vec![Piece::text(GOES_ON)];
    if let Some(base) = &resumed.base {
        pieces.extend(news(base));
    }
    SectionDraft::new(SectionName::Resumed, pieces)
}

fn news(base: &BaseNews) -> [Piece<'_>; 2] {
    let shown = base.subjects.get(..SUBJECTS_MAX).unwrap_or(&base.subjects);
    let mut lines: Vec<String> = shown
        .iter()
        .map(|subject| format!("- {}", title_line(&strip_hidden(subject))))
        .collect();
    let left = base.total.saturating_sub(shown.len());
    if left > 0 {
        lines.push(format!("- and {}", counted(left as u64, "more commit")));
    }
    let name = name_line(&base.base);
    let added = counted(base.total as u64, "commit");
    let verb = if base.total == 1 { "was" } else { "were" };
    [
        Piece::text(format!("\n{added} {verb} added to `{name}` meanwhile:\n")),
        Piece::Fenced(Fenced {
            origin: Cow::Owned(format!("commits on {name}")),
            author: "their authors".into(),
            text: Cow::Owned(lines.join("\n")),
        }),
    ]
}

impl SectionName {
    /// Returns whether every prompt has the section in full, also one for a session that was sent the same before: who the
    /// agent is working for, what must never be cut, and what is only ever news.
    pub(crate) const fn is_always_sent(self) -> bool {
        match self {
            Self::Header
            | Self::Resumed
            | Self::Messages
            | Self::ReviewPoints
            | Self::PullRequest
            | Self::PhaseReview
            | Self::DoneReview
            | Self::Criteria
            | Self::PreviousAttempts
            | Self::PreviousFindings
            | Self::Conversation
            | Self::GateResults
            | Self::ProjectInstructions
            | Self::PhaseAssignment
            | Self::RejectedDeliveries
            | Self::Instruction => true,
            Self::Description
            | Self::AnswerDiff
            | Self::Diff
            | Self::Artifact
            | Self::Documents
            | Self::Integration
            | Self::Dependencies
            | Self::RelatedLearnings
            | Self::GateCommands
            | Self::PreviousArtifacts
            | Self::WorkspaceProjects
            | Self::ProjectSummary
            | Self::PlanPhase => false,
        }
    }
}
