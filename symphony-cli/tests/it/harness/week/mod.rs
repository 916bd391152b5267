//! A scripted week, on real git and real processes: issues that are rejected, ask, return from their parts, are done already,
//! teach something, meet judges that fail, and a person who seldom looks. At its end every issue is done, cancelled, or waits for
//! the person with the reason; each run that was paid was needed; and every prompt had what it must have, and nothing else.

mod stories;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Project, scenarios, text, until};
use stories::{Ending, Story, learned_in, learning_of, monday, thursday};

/// Ticks between two visits of the person, while agents are at work.
const TICKS_BETWEEN_VISITS: u32 = 6;
/// Visits that a week may take; it takes about a dozen.
const VISITS_MAX: u32 = 40;
/// Small, so that the budgeted parts of prompts are cut all the time.
const USER_TOKENS: u64 = 2_000;

/// A week in progress.
struct Week {
    project: Project,
    stories: Vec<Story>,
    /// The issues as the last look found them, by title.
    issues: BTreeMap<String, Value>,
    /// The texts of the open points of each issue.
    open_points: BTreeMap<String, Vec<String>>,
    /// How often an open point was looked for in a prompt, and a learning of a finished issue found in another's.
    points_seen: usize,
    learnings_seen: usize,
    /// How many proposals that nothing is left to do the person confirmed.
    confirmed: usize,
}

#[test]
fn a_week_ends_with_every_issue_done_or_waiting_for_a_person() {
    let mut week = Week::begin();
    week.file(monday());
    week.work();
    let held: Vec<&str> = week.unfinished().collect();
    assert_eq!(held, ["Ribbon", "Saddle"], "what nobody answers");
    week.project
        .configure_more(&configuration(&json!({ "auto_done": true })));
    week.file(thursday());
    week.work();
    // two that were done already and two parents; Symphony confirmed those of Thursday
    assert_eq!(week.confirmed, 4);
    week.assert_ended();
}

fn configuration(more: &Value) -> Value {
    let mut whole = json!({
        "planner_enabled": true,
        "max_retry_backoff_ms": 1,
        "max_concurrent_agents": 6,
        "budget": { "user_tokens": USER_TOKENS },
    });
    whole
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    whole
}

impl Week {
    fn begin() -> Self {
        let all = [monday(), thursday()].concat();
        let plays = scenarios(all.iter().flat_map(Story::scenarios));
        Self {
            project: Project::new("project", &plays, &configuration(&json!({}))),
            stories: Vec::new(),
            issues: BTreeMap::new(),
            open_points: BTreeMap::new(),
            points_seen: 0,
            learnings_seen: 0,
            confirmed: 0,
        }
    }

    /// The person files issues; those that planners make are their parts.
    fn file(&mut self, stories: Vec<Story>) {
        let is_part = |story: &Story| story.title.contains(" part of ");
        for story in stories.iter().filter(|story| !is_part(story)) {
            let size = if story.is_large { "large" } else { "small" };
            self.project
                .ok(&["issue", "add", &story.title, "--size", size]);
        }
        self.stories.extend(stories);
        self.look();
    }

    /// Notes how issues are.
    fn look(&mut self) {
        let listed = self.project.json(&["issue", "list"]);
        let items = listed["items"].as_array().unwrap().clone();
        self.issues = items
            .into_iter()
            .map(|issue| (text(&issue["title"]), issue))
            .collect();
    }

    /// Notes which points of an issue are open, after something happened to it.
    fn look_at_points(&mut self, issue: &str) {
        let listed = self.project.json(&["point", "list", issue]);
        let points = listed["items"].as_array().unwrap().iter();
        let open = points.map(|point| text(&point["text"])).collect();
        self.open_points.insert(issue.to_owned(), open);
    }

    fn story(&self, title: &str) -> &Story {
        let mut stories = self.stories.iter();
        stories
            .find(|story| story.title == title)
            .unwrap_or_else(|| panic!("nobody asked for {title}"))
    }

    fn unfinished(&self) -> impl Iterator<Item = &str> {
        let open = self.issues.iter().filter(|(_, issue)| !is_over(issue));
        open.map(|(title, _)| title.as_str())
    }

    /// Ticks and visits in turn, until a visit finds nothing to do and no tick starts anything.
    fn work(&mut self) {
        for _ in 0..VISITS_MAX {
            let mut idle = 0;
            let mut ticks = 0;
            until("a visit of the person", || {
                let ran = self.tick();
                ticks += 1;
                idle = if ran == 0 { idle + 1 } else { 0 };
                // the tick after one that moves an issue starts it; a continuation is due in a second
                let is_idle = idle > 1 && self.project.retries().is_empty();
                (is_idle || ticks == TICKS_BETWEEN_VISITS).then_some(())
            });
            let acted = self.visit();
            self.project.assert_sound();
            if acted == 0 && idle > 1 {
                return;
            }
        }
        let open: Vec<&str> = self.unfinished().collect();
        panic!("the week does not end: {open:?}");
    }

    /// One tick; the prompts of its runs are looked at. Returns how many runs there were.
    fn tick(&mut self) -> usize {
        self.look();
        let runs = self.project.tick_wait();
        for run in runs.iter().filter(|run| run["profile"] != "gates") {
            self.look_at_run(run);
            self.look_at_points(&text(&run["issue"]));
        }
        runs.len()
    }

    /// Every open point of the issue is in the prompt, whole; no learning is, of another issue that has not ended well; and no
    /// call of the agent was refused.
    fn look_at_run(&mut self, run: &Value) {
        let (id, issue) = (text(&run["id"]), text(&run["issue"]));
        let title = self.title_of(&issue);
        let prompt = self.project.run_file(&id, "user-prompt.md");
        assert_eq!(self.project.tool_errors(&id), [""; 0], "{title}");
        for point in self.open_points.get(&issue).into_iter().flatten() {
            assert!(prompt.contains(point), "{issue}: {point}\n{prompt}");
            self.points_seen += 1;
        }
        let system = self.project.run_file(&id, "system-prompt.md");
        for learned in learned_in(&(prompt + &system)) {
            if learned != title {
                let status = &self.issues[&learned]["status"];
                assert_eq!(status, "done", "{title} was given what {learned} taught");
                self.learnings_seen += 1;
            }
        }
    }

    fn title_of(&self, issue: &str) -> String {
        let mut issues = self.issues.iter();
        let found = issues.find(|(_, known)| known["identifier"] == issue);
        found.expect("a tick starts what there was").0.clone()
    }

    /// The person answers everything that the week lets be answered; returns how much that was.
    fn visit(&mut self) -> usize {
        self.look();
        let inbox = self.project.json(&["inbox"]);
        let items = inbox["items"].as_array().unwrap().iter();
        let waiting: Vec<(String, String, String)> = items
            .filter(|item| item["issue"].is_string())
            .map(|item| {
                (
                    text(&item["issue"]),
                    text(&item["kind"]),
                    text(&item["text"]),
                )
            })
            .collect();
        let mut answered = 0;
        for (issue, kind, said) in waiting {
            if self.answer(&issue, &kind, &said) {
                self.look_at_points(&issue);
                answered += 1;
            }
        }
        answered
    }

    fn answer(&mut self, issue: &str, kind: &str, said: &str) -> bool {
        match (kind, self.story(&self.title_of(issue)).ending) {
            (_, Ending::Waits(_)) => return false,
            (_, Ending::Cancelled) => self.project.ok(&[
                "issue",
                "close",
                issue,
                "--cancelled",
                "--reason",
                "No longer.",
            ]),
            ("blocked", _) if said.contains("review point 1") => {
                self.project
                    .ok(&["point", "reply", issue, "1", "The one in the file."])
            }
            ("review", _) => self.decide(issue),
            _ => panic!("{issue} waits for what nobody planned: {kind}: {said}"),
        };
        true
    }

    /// Merges, confirms, or judges where the judges said nothing.
    fn decide(&mut self, issue: &str) -> String {
        let pr = self.project.json(&["pr", "show", issue]);
        match (pr["state"].as_str(), pr["proposal"].is_null()) {
            (Some("approved"), true) => self.project.ok(&["pr", "merge", issue]),
            (Some("approved"), false) => {
                self.confirmed += 1;
                self.project.ok(&["done", "approve", issue])
            }
            _ => self.project.ok(&["pr", "approve", issue]),
        }
    }

    fn assert_ended(&mut self) {
        self.look();
        let titles: BTreeSet<&str> = self.issues.keys().map(String::as_str).collect();
        let asked: BTreeSet<&str> = self
            .stories
            .iter()
            .map(|story| story.title.as_str())
            .collect();
        assert_eq!(titles, asked);
        let inbox = self.project.json(&["inbox"]);
        for story in &self.stories {
            self.assert_ending(story, &inbox);
            self.assert_runs(story);
        }
        self.assert_learnings();
        assert!(self.points_seen > 30 && self.learnings_seen > 10);
        println!(
            "{} open points and {} learnings of done issues were in prompts",
            self.points_seen, self.learnings_seen
        );
    }

    fn assert_ending(&self, story: &Story, inbox: &Value) {
        let issue = &self.issues[&story.title];
        match story.ending {
            Ending::Done => assert_eq!(issue["status"], "done", "{issue:#}"),
            Ending::Cancelled => assert_eq!(issue["status"], "cancelled", "{issue:#}"),
            Ending::Waits(kind) => {
                let mut items = inbox["items"].as_array().unwrap().iter();
                let entry = items.find(|item| item["issue"] == issue["identifier"]);
                let entry = entry.unwrap_or_else(|| panic!("not in the inbox: {issue:#}"));
                assert_eq!(entry["kind"], kind, "{entry:#}");
                assert!(!text(&entry["text"]).is_empty() && entry["answers"][0].is_string());
            }
        }
    }

    /// Each issue had the runs that it needed, and no more.
    fn assert_runs(&self, story: &Story) {
        let issue = text(&self.issues[&story.title]["identifier"]);
        let listed = self.project.json(&["runs", "list", "--issue", &issue]);
        let runs = listed["items"].as_array().unwrap();
        for (role, needed) in story.runs() {
            let had = runs.iter().filter(|run| run["profile"] == role).count();
            assert_eq!(had, needed, "{}: runs as {role}: {runs:#?}", story.title);
        }
    }

    /// The learnings of done issues are accepted, those of cancelled ones are dropped.
    fn assert_learnings(&self) {
        let in_state = |state: &str| -> BTreeSet<String> {
            let listed =
                self.project
                    .json(&["learnings", "list", "--state", state, "--limit", "500"]);
            let items = listed["items"].as_array().unwrap().iter();
            items.map(|item| text(&item["pattern"])).collect()
        };
        let taught = |ending: Ending| -> BTreeSet<String> {
            let teaches = |story: &&Story| story.ending == ending && story.teaches();
            self.stories
                .iter()
                .filter(teaches)
                .map(|story| learning_of(&story.title))
                .collect()
        };
        assert_eq!(in_state("accepted"), taught(Ending::Done));
        assert_eq!(in_state("dropped"), taught(Ending::Cancelled));
        assert_eq!(in_state("proposed"), BTreeSet::new());
    }
}

fn is_over(issue: &Value) -> bool {
    issue["status"] == "done" || issue["status"] == "cancelled"
}
