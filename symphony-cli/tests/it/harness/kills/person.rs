//! A person: rejects and comments now and then, and otherwise does what the inbox says, and nothing else.

use serde_json::Value;

use super::Field;
use crate::support::text;

/// One in so many rounds the person does something of their own accord.
const DEED_CHANCE: usize = 30;
/// One in so many rounds the person looks at the inbox.
const INBOX_CHANCE: usize = 10;
/// Commands that only show something, or are the person's other choice.
const PASSED_OVER: [&str; 12] = [
    "symphony pr show",
    "symphony pr reject",
    "symphony issue show",
    "symphony issue add",
    "symphony runs show",
    "symphony runs logs",
    "symphony point list",
    "symphony plan status",
    "symphony phase list",
    "symphony explain",
    "symphony doctor",
    "symphony config",
];

impl Field {
    /// Lets the person do something, by chance.
    pub(super) fn meddle(&mut self) {
        if self.chance.below(INBOX_CHANCE) == 0 {
            // merges that wait are processes of their own, to be killed like others
            self.answer_inbox(|item| !text(&item["text"]).ends_with("waits for you to merge it"));
        }
        if self.chance.below(DEED_CHANCE) != 0 {
            return;
        }
        let open = self.open();
        if open.is_empty() {
            return;
        }
        let issue = text(&open[self.chance.below(open.len())]["identifier"]);
        // refused where nothing is open to be rejected
        match self.chance.below(2) {
            0 => self.act(
                "rejects",
                &["pr", "reject", &issue, "-p", "should: look again"],
            ),
            _ => self.act("comments", &["issue", "comment", &issue, "Take your time."]),
        }
    }

    /// Gives a command, which may be refused; counts it when it is not.
    fn act(&mut self, what: &'static str, arguments: &[&str]) {
        let answer = self.project.symphony(arguments);
        assert_ne!(answer.code, 101, "{arguments:?}: {answer:#?}");
        if answer.code == 0 {
            *self.deeds.entry(what).or_default() += 1;
        }
    }

    /// Does what items of the inbox say: the first command that does anything.
    pub(super) fn answer_inbox(&mut self, which: impl Fn(&Value) -> bool) {
        let inbox = self.project.json(&["inbox"]);
        let items = inbox["items"].as_array().unwrap().iter();
        for item in items.filter(|item| which(item)) {
            let Some(answer) = answer_to(item) else {
                continue;
            };
            let command = answer.replacen("symphony", env!("CARGO_BIN_EXE_symphony"), 1);
            let mut shell = self.project.program("sh");
            let output = shell.args(["-c", &command]).output().unwrap();
            assert_ne!(output.status.code(), Some(101), "{answer}: {output:?}");
            if output.status.success() {
                *self.deeds.entry(deed(&text(&item["kind"]))).or_default() += 1;
            }
        }
    }
}

/// Returns the command that answers an item, with the person's words in place of TEXT.
fn answer_to(item: &Value) -> Option<String> {
    let answers = item["answers"].as_array().unwrap().iter().map(text);
    let acts = |answer: &String| {
        answer.starts_with("symphony ")
            && !PASSED_OVER.iter().any(|shows| answer.starts_with(shows))
            && !answer.contains(" PHASE ")
    };
    let answer = answers.into_iter().find(acts)?;
    Some(answer.replace("TEXT", "'Go on.'"))
}

fn deed(kind: &str) -> &'static str {
    match kind {
        "review" => "gives a verdict or merges",
        "blocked" => "unblocks",
        "gates" => "has gates run again",
        "hold" => "resumes",
        "plan" => "decides about a plan",
        _ => "answers something else",
    }
}
