//! What the pull request at a forge says: the author's text, and below it a part that Symphony keeps up to date.
//!
//! People may change the title and the text there. What they changed stays as they wrote it; only the part between two
//! markers is Symphony's.

use serde::{Deserialize, Serialize};
use symphony_core::review_point::{ReviewPoint, Severity};
use symphony_tracker::quote;

use crate::change::PullChange;
use crate::remote::RemotePull;

const BEGIN: &str = "<!-- symphony:begin -->";
const END: &str = "<!-- symphony:end -->";
/// Most characters of a title there.
const TITLE_CHARS_MAX: usize = 250;
/// Most characters of the author's text there: GitHub's limit for the whole is 65,536.
const TEXT_CHARS_MAX: usize = 40_000;
/// Most characters of a point in the list of points.
const POINT_CHARS_MAX: usize = 200;
/// How many characters of a commit are shown.
const COMMIT_CHARS: usize = 10;

/// A gate's result, for people at the forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateLine {
    /// Its name.
    pub name: String,
    /// Its result, in a few words.
    pub how: String,
    /// Whether it passed.
    pub passed: bool,
    /// Whether a red one sends the change back.
    pub required: bool,
}

/// What a pull request says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<'a> {
    /// The issue or the plan.
    pub of: &'a str,
    /// The title.
    pub title: &'a str,
    /// The author's text.
    pub body: &'a str,
    /// The commit.
    pub head: &'a str,
    /// The gates that ran on it here.
    pub gates: &'a [GateLine],
    /// The verdict on it, such as `approved by judge`.
    pub verdict: Option<&'a str>,
    /// The points of its reviews.
    pub points: &'a [ReviewPoint],
}

/// The three parts of what is written at the forge, as Symphony writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The title.
    pub title: String,
    /// The author's text.
    pub text: String,
    /// Symphony's part, without its markers.
    pub part: String,
}

impl Written {
    /// Writes what a pull request says. Texts of agents are broken where the forge would act on them.
    pub fn of(said: &Said<'_>) -> Self {
        let body = quote::shortened(said.body.trim(), TEXT_CHARS_MAX);
        Self {
            title: quote::agent_line(said.title, TITLE_CHARS_MAX),
            text: quote::neutral(&body),
            part: part(said),
        }
    }

    /// Returns the whole text.
    pub fn body(&self) -> String {
        join(&self.text, &self.part)
    }
}

fn part(said: &Said<'_>) -> String {
    let head = said.head.get(..COMMIT_CHARS).unwrap_or(said.head);
    let mut lines = vec![format!("**{}** at `{head}`", said.of)];
    if !said.gates.is_empty() {
        let gates = said.gates.iter().map(|gate| {
            let mark = match (gate.passed, gate.required) {
                (true, _) => "✅",
                (false, true) => "❌",
                (false, false) => "⚠️",
            };
            let name = quote::agent_line(&gate.name, POINT_CHARS_MAX);
            format!("{mark} {name} {}", gate.how)
        });
        let gates: Vec<String> = gates.collect();
        lines.push(format!("Gates: {}", gates.join(" · ")));
    }
    if let Some(verdict) = said.verdict {
        lines.push(format!("Review: {verdict}"));
    }
    let open: Vec<&ReviewPoint> = said
        .points
        .iter()
        .filter(|point| point.is_open() && point.severity != Severity::Note)
        .collect();
    if !open.is_empty() {
        let listed = open.iter().map(|point| {
            let text = quote::agent_line(&point.text, POINT_CHARS_MAX);
            format!("{}. ({}) {text}", point.number, point.severity)
        });
        let listed: Vec<String> = listed.collect();
        lines.push(format!("Open points:\n{}", listed.join("\n")));
    }
    lines.push(
        "_Symphony keeps this part up to date. The rest of this text is yours to edit._".to_owned(),
    );
    lines.join("\n\n")
}

fn join(text: &str, part: &str) -> String {
    let space = if text.is_empty() { "" } else { "\n\n" };
    format!("{text}{space}{BEGIN}\n{part}\n{END}")
}

/// A text at the forge, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Apart<'a> {
    before: &'a str,
    part: &'a str,
    after: &'a str,
}

/// Takes a text apart; `None` if a marker is missing, or there are more of them: then all of it is people's.
fn apart(body: &str) -> Option<Apart<'_>> {
    let (before, rest) = body.split_once(BEGIN)?;
    let (part, after) = rest.split_once(END)?;
    let has_more = [before, part, after]
        .iter()
        .any(|text| text.contains(BEGIN) || text.contains(END));
    (!has_more).then_some(Apart {
        before,
        part,
        after,
    })
}

/// Decides what to change of the title and the text there. `ours` is what Symphony wrote, or was about to write when it died, and
/// `wanted` what it would write now. A title or a text that is none of these is people's, and stays.
pub fn plan_text(ours: &[Written], wanted: &Written, theirs: &RemotePull) -> PullChange {
    let mut change = PullChange::default();
    let is_ours = ours.iter().any(|ours| ours.title == theirs.title);
    if is_ours && wanted.title != theirs.title {
        change.title = Some(wanted.title.clone());
    }
    change.body = new_body(ours, wanted, &theirs.body);
    change
}

fn new_body(ours: &[Written], wanted: &Written, theirs: &str) -> Option<String> {
    // whoever took the markers out does not want the part
    let found = apart(theirs)?;
    let before = found.before.trim_end();
    let is_ours = ours.iter().any(|ours| ours.text.trim_end() == before);
    let text = if is_ours {
        wanted.text.as_str()
    } else {
        before
    };
    let body = format!("{}{}", join(text, &wanted.part), found.after);
    let is_same = found.part.trim() == wanted.part.trim() && text.trim_end() == before;
    (!is_same).then_some(body)
}
