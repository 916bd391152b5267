//! Review points.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::issue::CommentAuthor;
use symphony_core::review_point::{
    AnswerKind, Lines, PointAnswer, PointNumber, PointState, ReviewOf, ReviewPoint, Severity,
};
use symphony_core::user::Attribution;

use crate::text::{Listed, Page, View};

/// Characters of a commit that are shown to a person.
const COMMIT_CHARS: usize = 10;

/// A review point with its answers. `answered` says whether one was given since the point was last opened.
#[derive(Debug, Clone, Serialize)]
pub struct PointView {
    /// Its number in the pull request, from 1.
    pub number: PointNumber,
    /// How much it matters.
    pub severity: Severity,
    /// Its state.
    pub state: PointState,
    /// Whether a worker has answered it.
    pub answered: bool,
    /// The file it is about, relative to the root.
    pub file: Option<String>,
    /// The lines of the file that it is about.
    pub lines: Option<Lines>,
    /// What is to be changed, in Markdown.
    pub text: String,
    /// Who raised it.
    pub author: CommentAuthor,
    /// The source that it was raised with, and the user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// The review that raised it.
    pub review: Option<ReviewOf>,
    /// The commit that it was raised on.
    pub commit: Option<String>,
    /// Its answers, oldest first.
    pub answers: Vec<AnswerView>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// An answer to a point.
#[derive(Debug, Clone, Serialize)]
pub struct AnswerView {
    pub answer: AnswerKind,
    pub text: String,
    pub commit: Option<String>,
    pub author: CommentAuthor,
    #[serde(flatten)]
    pub attribution: Attribution,
    pub created_at: Timestamp,
}

impl From<PointAnswer> for AnswerView {
    fn from(answer: PointAnswer) -> Self {
        Self {
            answer: answer.kind,
            text: answer.text,
            commit: answer.commit,
            author: answer.author,
            attribution: answer.attribution,
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
            attribution: point.attribution,
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

impl AnswerView {
    /// Returns who said it: the user of the page by name, else the kind of author.
    pub fn by(&self) -> &str {
        self.attribution.name_or(self.author.name())
    }
}

impl PointView {
    /// Returns who raised it: the user of the page by name, else the kind of author.
    pub fn by(&self) -> &str {
        self.attribution.name_or(self.author.name())
    }

    /// Returns its state in a word or two.
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

    /// Returns the file and lines that it is about, after a comma.
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
            self.by()
        ));
        page.block(&self.text);
        for said in &self.answers {
            let commit = said
                .commit
                .as_deref()
                .map_or_else(String::new, |commit| format!(" in {}", short(commit)));
            page.line(&format!("   {}{commit}, by {}:", said.answer, said.by()));
            page.block(&said.text);
        }
    }
}

impl Listed for PointView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No review points.");
        }
        for (at, point) in items.iter().enumerate() {
            if at > 0 {
                page.gap();
            }
            point.write(page);
        }
    }
}
