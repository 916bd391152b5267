//! What happens to each issue of a week: the plays of its agents in order, and how it has to end.

use serde_json::{Value, json};

use crate::support::{JUDGE, PLANNER, WORKER, bash, call, commit, create_pr, scenario, turn};

/// Letters that make a point longer than a small budget leaves room for.
const LONG: usize = 1_500;

/// How an issue has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    /// A person cancels it when its pull request is approved.
    Cancelled,
    /// It waits for a person, in an entry of this kind.
    Waits(&'static str),
}

/// An issue, with one play for each run that it needs. A run more finds no play, and fails.
#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) title: String,
    /// Whether a planner splits it.
    pub(super) is_large: bool,
    pub(super) workers: Vec<Vec<Value>>,
    pub(super) judges: Vec<Vec<Value>>,
    pub(super) planners: Vec<Vec<Value>>,
    pub(super) ending: Ending,
}

fn tool(name: &str, arguments: Value) -> Value {
    turn(call(&format!("mcp__symphony__{name}"), arguments))
}

impl Story {
    fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            is_large: false,
            workers: Vec::new(),
            judges: Vec::new(),
            planners: Vec::new(),
            ending: Ending::Done,
        }
    }

    fn worker(mut self, turns: impl IntoIterator<Item = Value>) -> Self {
        self.workers.push(turns.into_iter().collect());
        self
    }

    fn judge(mut self, verdict: &str, arguments: Value) -> Self {
        self.judges.push(vec![tool(verdict, arguments)]);
        self
    }

    fn ends(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The file that its worker writes.
    fn file(&self) -> String {
        format!("{}.txt", self.title.replace(' ', "-"))
    }

    /// The first attempt: a learning, a commit, a pull request.
    fn hands_in(self) -> Self {
        let learned = json!({ "pattern": learning_of(&self.title), "learning_type": "convention" });
        let write = commit(&self.file(), "once");
        self.worker([tool("add_learning", learned), write, create_pr("A change")])
    }

    /// A later attempt, which answers points.
    fn answers(self, points: &[u64], kind: &str) -> Self {
        let again = bash(&format!(
            "date +%s%N >> {0} && git add {0} && git commit -qm again",
            self.file()
        ));
        let answers = points.iter().map(|point| answer(*point, kind));
        let turns: Vec<Value> = [again]
            .into_iter()
            .chain(answers)
            .chain([create_pr("A change")])
            .collect();
        self.worker(turns)
    }

    /// The scenarios of its runs.
    pub(super) fn scenarios(&self) -> Vec<Value> {
        let roles = [
            (WORKER, &self.workers),
            (JUDGE, &self.judges),
            (PLANNER, &self.planners),
        ];
        let of_role = |(role, plays): (&str, &Vec<Vec<Value>>)| {
            let mut scenes = Vec::new();
            for (number, turns) in plays.iter().enumerate() {
                let head = format!("^# SYM-[0-9]+: {}$", self.title);
                let when = json!({ "match_system": role, "match_prompt": head, "uses": 1 });
                let name = format!("{} {role} {number}", self.title);
                scenes.push(scenario(&name, &when, turns.clone()));
            }
            scenes
        };
        roles.into_iter().flat_map(of_role).collect()
    }

    /// Whether its first worker proposes a learning.
    pub(super) fn teaches(&self) -> bool {
        let first = self.workers.first().and_then(|turns| turns.first());
        first.is_some_and(|turn| turn["content"][0]["name"] == "mcp__symphony__add_learning")
    }

    /// How many runs of each role it needs.
    pub(super) fn runs(&self) -> [(&'static str, usize); 3] {
        [
            ("worker", self.workers.len()),
            ("judge", self.judges.len()),
            ("planner", self.planners.len()),
        ]
    }
}

/// The learning that is proposed on the issue with a title.
pub(super) fn learning_of(title: &str) -> String {
    format!("<{title}> taught that its file has a line for each attempt")
}

/// The titles whose learnings a text has.
pub(super) fn learned_in(text: &str) -> Vec<String> {
    text.split('<')
        .filter_map(|part| part.split_once("> taught that"))
        .map(|(title, _)| title.to_owned())
        .collect()
}

/// The text of a point, which tells where it begins and ends.
fn point_text(title: &str, name: &str) -> String {
    let rest = "x".repeat(LONG);
    format!("{name} of {title} begins {rest} {name} of {title} ends")
}

fn answer(point: u64, kind: &str) -> Value {
    let arguments = json!({ "point": point, "answer": kind, "text": "It is so." });
    tool("answer_review_point", arguments)
}

fn closed(points: &[u64]) -> Value {
    let moved: Vec<Value> = points
        .iter()
        .map(|id| json!({ "id": id, "state": "closed" }))
        .collect();
    json!({ "comment": "Good.", "points": moved })
}

/// A proposal that nothing is left to do, with files as evidence.
fn propose(files: &[String]) -> Value {
    let evidence: Vec<Value> = files
        .iter()
        .map(|file| json!({ "kind": "file", "reference": file }))
        .collect();
    let arguments = json!({ "reason": "It is there.", "evidence": evidence });
    tool("propose_done", arguments)
}

fn plain(title: &str) -> Story {
    Story::new(title)
        .hands_in()
        .judge("approve_pr", json!({ "comment": "Good." }))
}

/// Rejected once: two points are answered, and a note stays open to the end.
fn rejected(title: &str) -> Story {
    let raised = json!({ "points": [
        { "text": point_text(title, "First") },
        { "text": point_text(title, "Second") },
        { "text": point_text(title, "Note"), "severity": "note" },
    ] });
    Story::new(title)
        .hands_in()
        .judge("reject_pr", raised)
        .answers(&[1, 2], "fixed")
        .judge("approve_pr", closed(&[1, 2]))
}

/// Rejected twice: one point is reopened with the second rejection, which raises another.
fn rejected_twice(title: &str) -> Story {
    let raised = json!({ "points": [
        { "text": point_text(title, "First") },
        { "text": point_text(title, "Second") },
    ] });
    let more = json!({ "points": [
        { "id": 1, "state": "closed" },
        { "id": 2, "state": "reopened", "text": "Not yet." },
        { "text": point_text(title, "Third") },
    ] });
    Story::new(title)
        .hands_in()
        .judge("reject_pr", raised)
        .answers(&[1, 2], "declined")
        .judge("reject_pr", more)
        .answers(&[2, 3], "fixed")
        .judge("approve_pr", closed(&[2, 3]))
}

/// A point is answered with a question, which waits for a person.
fn asks(title: &str) -> Story {
    let raised = json!({ "points": [{ "text": point_text(title, "First") }] });
    Story::new(title)
        .hands_in()
        .judge("reject_pr", raised)
        .worker([answer(1, "question")])
        .answers(&[1], "fixed")
        .judge("approve_pr", closed(&[1]))
}

/// The base has it already: the proposal is rejected once, then approved.
fn already_done(title: &str) -> Story {
    let readme = [String::from("README.md")];
    let raised = json!({ "points": [{ "text": point_text(title, "First") }] });
    Story::new(title)
        .worker([propose(&readme)])
        .judge("reject_done", raised)
        .worker([answer(1, "declined"), propose(&readme)])
        .judge("approve_done", closed(&[1]))
}

/// A planner splits it; its worker comes back when the parts are merged, and finds nothing left to do.
fn parent(title: &str) -> [Story; 3] {
    let parts = ["left", "right"].map(|side| plain(&format!("The {side} part of {title}")));
    let files: Vec<String> = parts.iter().map(Story::file).collect();
    let mut story = Story::new(title)
        .worker([propose(&files)])
        .judge("approve_done", json!({ "comment": "It is so." }));
    story.is_large = true;
    let made = parts.iter().map(|part| {
        let arguments = json!({ "title": part.title, "description": "A part of it." });
        tool("create_subtask", arguments)
    });
    story.planners.push(made.collect());
    let [left, right] = parts;
    [story, left, right]
}

/// Three judges say nothing, and the person is asked.
fn silent_judges(title: &str) -> Story {
    let mut story = Story::new(title).hands_in();
    story.judges = vec![vec![tool("get_issue", json!({}))]; 3];
    story
}

/// One judge's process dies.
fn dying_judge(title: &str) -> Story {
    let mut story = plain(title);
    let mut dies = tool("get_issue", json!({}));
    dies["faults"] = json!([{ "type": "exit", "code": 3 }]);
    story.judges.insert(0, vec![dies]);
    story
}

/// The gate is red at first.
fn red(title: &str) -> Story {
    Story::new(title)
        .worker([commit("hello.txt", "bye"), create_pr("A greeting")])
        .worker([commit("hello.txt", "hello"), create_pr("A greeting")])
        .judge("approve_pr", json!({ "comment": "Good." }))
}

fn blocked(title: &str) -> Story {
    let status = json!({ "status": "blocked", "reason": "Which colour?" });
    Story::new(title)
        .worker([tool("update_issue_status", status)])
        .ends(Ending::Waits("blocked"))
}

/// Three workers bring nothing.
fn idle(title: &str) -> Story {
    let mut story = Story::new(title).ends(Ending::Waits("breaker"));
    story.workers = vec![Vec::new(); 3];
    story
}

/// What is filed on Monday.
pub(super) fn monday() -> Vec<Story> {
    let mut stories: Vec<Story> = ["Anchor", "Basket"].map(plain).into();
    stories.extend(["Candle", "Dragon"].map(rejected));
    stories.extend(["Engine", "Forest"].map(rejected_twice));
    stories.extend(["Garden", "Hammer"].map(asks));
    stories.extend(["Island", "Jacket"].map(already_done));
    stories.extend(["Kettle", "Ladder"].into_iter().flat_map(parent));
    stories.extend(["Mirror", "Needle"].map(|title| plain(title).ends(Ending::Cancelled)));
    stories.extend([
        silent_judges("Orchid"),
        dying_judge("Pencil"),
        red("Quartz"),
        blocked("Ribbon"),
        idle("Saddle"),
    ]);
    stories
}

/// What is filed on Thursday, when `auto_done` is on and Monday's learnings are accepted.
pub(super) fn thursday() -> Vec<Story> {
    let mut stories: Vec<Story> = ["Tunnel", "Umbrella"].map(already_done).into();
    stories.extend([
        plain("Violin"),
        rejected("Window"),
        rejected_twice("Yellow"),
    ]);
    stories
}
