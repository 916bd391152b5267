//! Checks of a commit: runs of an app, most of them jobs of GitHub Actions, and statuses that other programs report.

use std::collections::BTreeMap;
use std::fmt::Write;

use reqwest::Method;
use serde::Deserialize;
use symphony_core::Timestamp;
use symphony_forge::remote::{CheckResult, RemoteCheck, RerunAnswer};
use symphony_tracker::fault::Fault;
use symphony_tracker::quote;
use symphony_tracker::remote::ExternalId;

use super::super::issues::number;
use super::super::wire::external;
use super::GithubForge;

/// Most characters of what a check says.
const SUMMARY_CHARS_MAX: usize = 4000;

/// Most failed checks whose annotations are asked for, one request each.
const ANNOTATED_MAX: usize = 10;

/// Most annotations of a check.
const ANNOTATIONS_MAX: &str = "50";

/// The app whose runs are jobs: the id of such a run is the job's too.
const ACTIONS: &str = "github-actions";

/// What GitHub says of a job whose workflow has not ended, in a refusal like that of a missing right.
const STILL_RUNNING: &str = "already running";

#[derive(Debug, Deserialize)]
struct WireRuns {
    check_runs: Vec<WireRun>,
}

#[derive(Debug, Deserialize)]
struct WireApp {
    id: u64,
    slug: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireOutput {
    title: Option<String>,
    summary: Option<String>,
    text: Option<String>,
    annotations_count: u64,
}

#[derive(Debug, Deserialize)]
struct WireRun {
    id: u64,
    name: String,
    status: String,
    conclusion: Option<String>,
    started_at: Option<Timestamp>,
    html_url: Option<String>,
    #[serde(default)]
    output: WireOutput,
    app: Option<WireApp>,
}

#[derive(Debug, Deserialize)]
struct WireStatuses {
    statuses: Vec<WireStatus>,
}

#[derive(Debug, Deserialize)]
struct WireStatus {
    context: String,
    state: String,
    description: Option<String>,
    target_url: Option<String>,
    updated_at: Timestamp,
}

#[derive(Debug, Deserialize)]
struct WireAnnotation {
    path: String,
    start_line: u64,
    annotation_level: Option<String>,
    message: Option<String>,
}

impl GithubForge {
    pub(super) async fn load_checks(&self, commit: &str) -> Result<Vec<RemoteCheck>, Fault> {
        let asked = self.asked("read checks", &format!("the checks of commit {commit}"));
        let url = self
            .github
            .repository_url(&["commits", commit, "check-runs"]);
        let runs = self.load_pages(&url, &asked, |page: WireRuns| page.check_runs);
        let runs = newest(runs.await?);
        let asked = self.asked(
            "read commit statuses",
            &format!("the statuses of commit {commit}"),
        );
        let url = self.github.repository_url(&["commits", commit, "status"]);
        let statuses = self.load_pages(&url, &asked, |page: WireStatuses| page.statuses);
        let statuses = statuses.await?;
        let mut found = Vec::new();
        let mut annotated = 0;
        for run in runs {
            let wants_more = run.result() == CheckResult::Failed
                && run.output.annotations_count > 0
                && annotated < ANNOTATED_MAX;
            let annotations = if wants_more {
                annotated += 1;
                self.load_annotations(run.id).await?
            } else {
                Vec::new()
            };
            found.push(run.check(&annotations));
        }
        found.extend(statuses.into_iter().map(WireStatus::check));
        Ok(by_name(found))
    }

    async fn load_annotations(&self, run: u64) -> Result<Vec<WireAnnotation>, Fault> {
        let asked = self.asked("read checks", &format!("the annotations of check {run}"));
        let mut url = self
            .github
            .repository_url(&["check-runs", &run.to_string(), "annotations"]);
        url.query_pairs_mut()
            .append_pair("per_page", ANNOTATIONS_MAX);
        match self.github.get(url, None, &asked).await {
            Ok(answer) => self.read(&answer, &asked.what),
            Err(Fault::NotFound { .. } | Fault::Forbidden { .. }) => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }

    pub(super) async fn start_again(&self, run: &ExternalId) -> Result<RerunAnswer, Fault> {
        let asked = self.asked("run jobs again", &format!("job {run}"));
        let Some(job) = number(run) else {
            return Err(Fault::NotFound { what: asked.what });
        };
        let url = self
            .github
            .repository_url(&["actions", "jobs", &job.to_string(), "rerun"]);
        match self.github.write(Method::POST, url, None, &asked).await {
            Ok(_) => Ok(RerunAnswer::Started),
            // A job can run again only after all jobs of its workflow have ended, and this is the answer before that.
            Err(Fault::Forbidden { detail, .. }) if detail.contains(STILL_RUNNING) => {
                Ok(RerunAnswer::Busy)
            }
            Err(fault) => Err(fault),
        }
    }
}

impl WireRun {
    fn result(&self) -> CheckResult {
        match (self.status.as_str(), self.conclusion.as_deref()) {
            // a person has to let it begin
            ("completed", None | Some("action_required")) => CheckResult::Waiting,
            ("completed", Some("success" | "neutral" | "skipped")) => CheckResult::Passed,
            ("completed", Some(_)) => CheckResult::Failed,
            _ => CheckResult::Waiting,
        }
    }

    fn check(self, annotations: &[WireAnnotation]) -> RemoteCheck {
        let app = self.app.as_ref().and_then(|app| app.slug.as_deref());
        RemoteCheck {
            result: self.result(),
            is_job: app == Some(ACTIONS),
            summary: self.output.words(annotations),
            name: self.name,
            run: Some(external(self.id)),
            url: self.html_url,
            at: self.started_at,
        }
    }
}

impl WireOutput {
    fn words(&self, annotations: &[WireAnnotation]) -> String {
        let parts = [&self.title, &self.summary, &self.text];
        let parts = parts.into_iter().flatten().map(|part| part.trim());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let mut words = String::new();
        for note in annotations {
            let level = note.annotation_level.as_deref().unwrap_or("note");
            let message = note.message.as_deref().unwrap_or_default().trim();
            let _always = writeln!(
                words,
                "{}:{}: {level}: {message}",
                note.path, note.start_line
            );
        }
        // the places come first: what is cut is at the end
        words.push_str(&parts.join("\n\n"));
        quote::shortened(words.trim_end(), SUMMARY_CHARS_MAX)
    }
}

impl WireStatus {
    fn check(self) -> RemoteCheck {
        let result = match self.state.as_str() {
            "success" => CheckResult::Passed,
            "failure" | "error" => CheckResult::Failed,
            _ => CheckResult::Waiting,
        };
        RemoteCheck {
            name: self.context,
            run: None,
            is_job: false,
            result,
            summary: self.description.unwrap_or_default(),
            url: self.target_url,
            at: Some(self.updated_at),
        }
    }
}

/// Keeps the newest run of each name of each app: a second run has a larger id, and no time before it begins.
fn newest(runs: Vec<WireRun>) -> Vec<WireRun> {
    let mut newest: BTreeMap<(String, Option<u64>), WireRun> = BTreeMap::new();
    for run in runs {
        let key = (run.name.clone(), run.app.as_ref().map(|app| app.id));
        let is_newer = newest.get(&key).is_none_or(|known| known.id < run.id);
        if is_newer {
            newest.insert(key, run);
        }
    }
    newest.into_values().collect()
}

/// Keeps one check of each name. If two apps, or an app and a status, share a name, all of them have to pass: the worst counts.
fn by_name(checks: Vec<RemoteCheck>) -> Vec<RemoteCheck> {
    let badness = |check: &RemoteCheck| match check.result {
        CheckResult::Passed => 0,
        CheckResult::Waiting => 1,
        CheckResult::Failed => 2,
    };
    let mut found: BTreeMap<String, RemoteCheck> = BTreeMap::new();
    for check in checks {
        let is_worse = found
            .get(&check.name)
            .is_none_or(|known| badness(known) < badness(&check));
        if is_worse {
            found.insert(check.name.clone(), check);
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(id: u64, app: u64, status: &str, conclusion: Option<&str>) -> WireRun {
        let value = json!({
            "id": id, "name": "test", "status": status, "conclusion": conclusion, "started_at": null,
            "app": { "id": app, "slug": if app == 1 { "github-actions" } else { "other" } },
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn each_conclusion_is_one_of_three_results() {
        use CheckResult::{Failed, Passed, Waiting};
        let table = [
            ("queued", None, Waiting),
            ("in_progress", None, Waiting),
            ("completed", None, Waiting),
            ("completed", Some("success"), Passed),
            ("completed", Some("neutral"), Passed),
            ("completed", Some("skipped"), Passed),
            ("completed", Some("failure"), Failed),
            ("completed", Some("timed_out"), Failed),
            ("completed", Some("cancelled"), Failed),
            ("completed", Some("startup_failure"), Failed),
            ("completed", Some("action_required"), Waiting),
        ];
        for (status, conclusion, expected) in table {
            assert_eq!(
                run(1, 1, status, conclusion).result(),
                expected,
                "{conclusion:?}"
            );
        }
    }

    #[test]
    fn the_newest_run_of_an_app_counts_and_the_worst_of_several_apps() {
        let checks = |runs: Vec<WireRun>| {
            let runs = newest(runs).into_iter().map(|run| run.check(&[]));
            let found = by_name(runs.collect());
            let [check] = found.as_slice() else {
                panic!("{found:?}")
            };
            (
                check.run.clone().unwrap().as_str().to_owned(),
                check.result,
                check.is_job,
            )
        };
        let red = || run(1, 1, "completed", Some("failure"));
        let again = || run(3, 1, "queued", None);
        let other = || run(2, 7, "completed", Some("success"));
        assert_eq!(
            checks(vec![red(), again()]),
            ("3".to_owned(), CheckResult::Waiting, true)
        );
        assert_eq!(
            checks(vec![again(), red()]),
            ("3".to_owned(), CheckResult::Waiting, true)
        );
        assert_eq!(
            checks(vec![other(), red()]),
            ("1".to_owned(), CheckResult::Failed, true)
        );
        assert_eq!(
            checks(vec![other()]),
            ("2".to_owned(), CheckResult::Passed, false)
        );
    }
}
