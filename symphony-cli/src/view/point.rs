//! Review points.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::issue::CommentAuthor;
use symphony_core::review_point::{
    AnswerKind, Lines, PointAnswer, PointNumber, PointState, ReviewOf, ReviewPoint, Severity,
};

use crate::output::{List, Page, View};

/// Characters of a commit that are shown to a person.
const COMMIT_CHARS: usize = 10;

/// A review point with what was said to it. `answered` is whether that was since it was last opened.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PointView {
    pub(crate) number: PointNumber,
    pub(crate) severity: Severity,
    pub(crate) state: PointState,
    pub(crate) answered: bool,
    pub(crate) file: Option<String>,
    pub(crate) lines: Option<Lines>,
    pub(crate) text: String,
    pub(crate) author: CommentAuthor,
    pub(crate) review: Option<ReviewOf>,
    pub(crate) commit: Option<String>,
    pub(crate) answers: Vec<AnswerView>,
    pub(crate) created_at: Timestamp,
}

/// What was said to a point.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AnswerView {
    pub(crate) answer: AnswerKind,
    pub(crate) text: String,
    pub(crate) commit: Option<String>,
    pub(crate) author: CommentAuthor,
    pub(crate) created_at: Timestamp,
}

impl From<PointAnswer> for AnswerView {
    fn from(answer: PointAnswer) -> Self {
        Self {
            answer: answer.kind,
            text: answer.text,
            commit: answer.commit,
            author: answer.author,
            created_at: answer.created_at,
        }
    }
}

impl From<ReviewPoint> for PointView {
    fn from(point: ReviewPoint) -> Self {
        let answered = point.is_answered();
        let (file, lines) = point.place.map(|place| (place.file, place.lines)).unzip();
        Self {
            number: point.number,
            severity: point.severity,
            state: point.state,
            answered,
            file,
            lines: lines.flatten(),
            text: point.text,
            author: point.author,
            review: point.review,
            commit: point.commit,
            answers: point.answers.into_iter().map(AnswerView::from).collect(),
            created_at: point.created_at,
        }
    }
}

fn short(commit: &str) -> String {
    commit.chars().take(COMMIT_CHARS).collect()
}

impl PointView {
    /// How it stands, in a word or two.
    fn standing(&self) -> &'static str {
        match (self.state, self.answers.last()) {
            (PointState::Closed, _) => "closed",
            (PointState::Open, Some(last)) if last.answer == AnswerKind::Question => {
                "waits for your reply"
            }
            (PointState::Open, _) if self.answered => "open, answered",
            (PointState::Open, _) => "open",
        }
    }

    /// Where it is about, after a comma.
    fn place(&self) -> String {
        match (&self.file, self.lines) {
            (Some(file), Some(lines)) => format!(", {file}:{lines}"),
            (Some(file), None) => format!(", {file}"),
            (None, _) => String::new(),
        }
    }
}

impl View for PointView {
    fn write(&self, page: &mut Page) {
        page.line(&format!(
            "{} ({}{}) · {} · by {}",
            self.number,
            self.severity,
            self.place(),
            self.standing(),
            self.author
        ));
        page.block(&self.text);
        for said in &self.answers {
            let commit = said
                .commit
                .as_deref()
                .map_or_else(String::new, |commit| format!(" in {}", short(commit)));
            page.line(&format!("   {}{commit}, by {}:", said.answer, said.author));
            page.block(&said.text);
        }
    }
}

impl View for List<PointView> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("No review points.");
        }
        for (at, point) in self.items.iter().enumerate() {
            if at > 0 {
                page.gap();
            }
            point.write(page);
        }
    }
}
