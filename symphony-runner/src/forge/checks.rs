//! What CI at the forge says of a pull request's commit.

use symphony_core::Timestamp;
use symphony_core::pull_request::VerdictKind;
use symphony_core::review_point::{
    NewPoint, POINT_CHARS_MAX, PointChanges, PointMove, PointState, Severity,
};
use symphony_forge::check::{Checks, RedCheck, SeenCheck, all_passed, plan_checks, required};
use symphony_forge::remote::CheckResult;
use symphony_mcp::Reviewed;
use symphony_store::Context;
use symphony_tracker::fault::Fault;
use symphony_tracker::quote;
use symphony_workspace::Failpoint;

use super::fault::Stop;
use super::hear::is_refusal;
use super::round::{Mirrored, Round};
use crate::order::{PersonVerdict, RedGates, give_verdict};

/// How much of a log is read.
const LOG_BYTES_MAX: usize = 16 * 1024;
/// Most characters of a log's end in a point: the point has a limit of its own.
const LOG_CHARS_MAX: usize = POINT_CHARS_MAX - 500;
/// How many commits in a row CI may send back before a person has to look.
const RED_HEADS_MAX: u32 = 5;
/// What a point about a check begins with; the point is closed once the check passes.
const POINT_BEGIN: &str = "The check `";

impl Round<'_> {
    /// Reads the required checks of the pushed commit. Failed ones run a second time, then they send the work back.
    pub(super) async fn read_checks(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        let head = both.pr.head_commit.clone();
        let is_there = both
            .theirs
            .as_ref()
            .is_some_and(|theirs| theirs.head == head);
        let rules = self.record.rules.get(&both.pr.base);
        let names = required(&rules.cloned().unwrap_or_default(), &self.settings.checks);
        if !is_there || names.is_empty() || !both.pr.state.is_open() {
            return Ok(());
        }
        let before = both.pull.checks_of(&head).unwrap_or_default().to_vec();
        let found = self.client.checks(&head).await?;
        let mut checks = plan_checks(&names, &found, &before, self.settings.rerun);
        if !self.run_again(&checks).await? {
            // what may not be run again counts as it is
            checks = plan_checks(&names, &found, &before, false);
        }
        let red = std::mem::take(&mut checks.red);
        if !red.is_empty() {
            self.send_back(both, &red).await?;
        }
        if all_passed(&checks.seen) {
            both.pull.red_heads = 0;
            self.close_points(both, &checks.seen)?;
        }
        let is_red = checks
            .seen
            .iter()
            .any(|check| check.result == CheckResult::Failed);
        if is_red && both.pull.red_heads > RED_HEADS_MAX {
            // Each try is paid for, and what failed on so many commits is seldom the author's doing.
            both.pull.problem = Some(format!(
                "required checks failed on {} commits in a row, so no agent is sent after them any more; `symphony pr reject` sends one",
                both.pull.red_heads
            ));
        }
        both.pull.checks_head = Some(head);
        both.pull.checks = checks.seen;
        self.save(both, &[])
    }

    /// Has jobs run again; false if the token may not.
    async fn run_again(&self, checks: &Checks) -> Result<bool, Stop> {
        for job in &checks.again {
            match self.client.run_again(job).await {
                Ok(()) => Failpoint::ForgeRerun.reach(),
                Err(Fault::Forbidden { .. } | Fault::NotFound { .. } | Fault::Refused { .. }) => {
                    return Ok(false);
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(true)
    }

    async fn send_back(&mut self, both: &mut Mirrored, red: &[RedCheck]) -> Result<(), Stop> {
        both.pull.red_heads += 1;
        let mut points = Vec::new();
        for check in red {
            let log = match &check.job {
                Some(job) => self.client.log_end(job, LOG_BYTES_MAX).await?,
                None => None,
            };
            points.push(NewPoint {
                severity: Severity::Must,
                text: point_text(check, log.as_deref()),
                place: None,
            });
        }
        let names: Vec<&str> = red.iter().map(|check| check.name.as_str()).collect();
        let names = names.join(", ");
        if both.pull.red_heads > RED_HEADS_MAX {
            return Ok(());
        }
        let verdict = PersonVerdict {
            kind: VerdictKind::Rejected,
            comment: format!("Required checks failed at the forge: {names}"),
            commit: Some(&both.pr.head_commit),
            points: PointChanges {
                new: points,
                moved: Vec::new(),
            },
            red_gates: RedGates::Allowed,
            subject: Reviewed::of(&both.pr),
        };
        let context = Context::system(Timestamp::now());
        match give_verdict(self.session, &context, &both.pr, &verdict) {
            Ok(pr) => both.pr = pr,
            Err(error) if is_refusal(&error) => {
                both.pull.problem = Some(format!("{}: {error}", verdict.comment));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Closes the points about checks that have passed since.
    fn close_points(&mut self, both: &Mirrored, seen: &[SeenCheck]) -> Result<(), Stop> {
        let points = self.session.store.review_points(&both.pr.of)?;
        let is_settled = |text: &str| {
            seen.iter()
                .any(|check| text.starts_with(&point_begin(&check.name)))
        };
        let moved: Vec<PointMove> = points
            .iter()
            .filter(|point| point.is_open() && !point.is_persons() && is_settled(&point.text))
            .map(|point| PointMove {
                number: point.number,
                to: PointState::Closed,
                remark: Some("It passes now.".to_owned()),
            })
            .collect();
        if moved.is_empty() {
            return Ok(());
        }
        let changes = PointChanges {
            new: Vec::new(),
            moved,
        };
        let context = Context::system(Timestamp::now());
        let store = &mut self.session.store;
        store.change_points(&context, &both.pr.of, &changes)?;
        Ok(())
    }
}

fn point_begin(name: &str) -> String {
    format!("{POINT_BEGIN}{}`", quote::agent_line(name, 100))
}

fn point_text(check: &RedCheck, log: Option<&str>) -> String {
    let begin = point_begin(&check.name);
    let summary = quote::agent_line(&check.summary, 200);
    let said = if summary.is_empty() {
        String::new()
    } else {
        format!(": {summary}")
    };
    let page = check
        .url
        .as_ref()
        .map(|url| format!(" ({url})"))
        .unwrap_or_default();
    let head = format!("{begin} failed at the forge{page}{said}.");
    let Some(log) = log.map(str::trim_end).filter(|log| !log.is_empty()) else {
        return head.chars().take(POINT_CHARS_MAX).collect();
    };
    let room = LOG_CHARS_MAX.saturating_sub(head.chars().count().saturating_sub(400));
    let skipped = log.chars().count().saturating_sub(room);
    let end: String = log.chars().skip(skipped).collect();
    let text = format!("{head} The end of its log:\n\n{end}");
    text.chars().take(POINT_CHARS_MAX).collect()
}
