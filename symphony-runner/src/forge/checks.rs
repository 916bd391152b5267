//! What CI at the forge says of a pull request's commit.

use symphony_core::Timestamp;
use symphony_core::pull_request::VerdictKind;
use symphony_core::review_point::{
    NewPoint, POINT_CHARS_MAX, PointChanges, PointMove, PointState, Severity,
};
use symphony_forge::check::{
    Checks, RedCheck, SeenCheck, all_passed, note_answer, plan_checks, required,
};
use symphony_forge::remote::{RemoteCheck, RerunAnswer};
use symphony_forge::unseen::{MISSING_MINUTES_MAX, meant, note_missing};
use symphony_mcp::Reviewed;
use symphony_store::Context;
use symphony_tracker::fault::Fault;
use symphony_tracker::quote;
use symphony_workspace::Failpoint;

use super::hear::is_refusal;
use super::log::plain_end;
use super::round::{Mirrored, Round};
use crate::order::{PersonVerdict, RedGates, give_verdict};
use crate::outreach::stop::Stop;

/// How much of a log is read: times and colours of its lines can be most of it.
const LOG_BYTES_MAX: usize = 64 * 1024;
/// Most characters of a log's end in a point: the point has a limit of its own.
const LOG_CHARS_MAX: usize = POINT_CHARS_MAX - 500;
/// How many commits in a row CI may send back before a person has to look.
const RED_HEADS_MAX: u32 = 5;
/// How many names of checks are shown.
const NAMES_SHOWN_MAX: usize = 8;
/// What a point about a check begins with; the point is closed once the check passes.
const POINT_BEGIN: &str = "The check `";

/// What is known of a job's log.
#[derive(Debug)]
enum Log {
    /// It has none, or none any more.
    None,
    /// Why it could not be read.
    Unread(String),
    /// Its end.
    End(String),
}

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
        both.pull.checks_head = Some(head);
        self.run_again(both, &mut checks).await?;
        both.pull.problem = unreported(&mut checks.seen, &found).or(both.pull.problem.take());
        both.pull.checks.clone_from(&checks.seen);
        if !checks.red.is_empty() {
            self.send_back(both, &checks.red).await?;
        }
        if all_passed(&both.pull.checks) {
            both.pull.red_heads = 0;
            self.close_points(both, &checks.seen)?;
        }
        let mut answered = both.pull.checks.iter();
        if both.pull.red_heads > RED_HEADS_MAX && answered.any(|check| check.is_answered) {
            // Each try is paid for, and what failed on so many commits is seldom the author's doing.
            both.pull.problem = Some(format!(
                "required checks failed on {} commits in a row, so Symphony no longer sends the work back; `symphony pr reject {} --feedback TEXT` does",
                both.pull.red_heads,
                both.pr.reference()
            ));
        }
        self.save(both, &[])
    }

    /// Has failed jobs run again. Each that was started is recorded at once: CI minutes are paid for, and a fault after it must not
    /// start it again at every look.
    async fn run_again(&mut self, both: &mut Mirrored, checks: &mut Checks) -> Result<(), Stop> {
        for again in checks.again.clone() {
            let answer = match self.client.run_again(&again.job).await {
                Ok(answer) => answer,
                Err(Fault::Forbidden { .. } | Fault::NotFound { .. } | Fault::Refused { .. }) => {
                    RerunAnswer::Refused
                }
                Err(fault) => return Err(fault.into()),
            };
            checks.answered(&again, answer);
            if answer == RerunAnswer::Started {
                Failpoint::ForgeRerun.reach();
                both.pull.checks.clone_from(&checks.seen);
                self.save(both, &[])?;
            }
        }
        Ok(())
    }

    /// Sends the work back for checks that failed. What is noted of it is noted after the verdict was recorded: a commit counts as
    /// red once, however many looks it takes until then.
    async fn send_back(&mut self, both: &mut Mirrored, red: &[RedCheck]) -> Result<(), Stop> {
        let is_known = both.pull.checks.iter().any(|check| check.is_answered);
        let red_heads = both.pull.red_heads + u32::from(!is_known);
        if red_heads <= RED_HEADS_MAX && !self.reject(both, red).await? {
            return Ok(());
        }
        both.pull.red_heads = red_heads;
        note_answer(&mut both.pull.checks);
        Ok(())
    }

    /// Rejects a pull request for its checks. If that is refused here, it is the pull request's problem and tried at the next look.
    async fn reject(&mut self, both: &mut Mirrored, red: &[RedCheck]) -> Result<bool, Stop> {
        let mut points = Vec::new();
        for check in red {
            let log = self.log_of(check).await?;
            points.push(NewPoint {
                severity: Severity::Must,
                text: point_text(check, &log),
                place: None,
            });
        }
        let names: Vec<&str> = red.iter().map(|check| check.name.as_str()).collect();
        let names = names.join(", ");
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
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// Reads the end of a job's log. It is at another host, which a proxy may block: the work is sent back without it then.
    async fn log_of(&self, check: &RedCheck) -> Result<Log, Stop> {
        let Some(job) = &check.job else {
            return Ok(Log::None);
        };
        match self.client.log_end(job, LOG_BYTES_MAX).await {
            Ok(Some(log)) => Ok(Log::End(log)),
            Ok(None) => Ok(Log::None),
            Err(
                fault @ (Fault::RateLimited { .. }
                | Fault::NoToken { .. }
                | Fault::Unauthorised { .. }),
            ) => Err(fault.into()),
            Err(fault) => Ok(Log::Unread(fault.to_string())),
        }
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

/// Returns what keeps required checks from ever passing: nothing reports them.
fn unreported(seen: &mut [SeenCheck], found: &[RemoteCheck]) -> Option<String> {
    let missing = note_missing(seen, found, Timestamp::now());
    let first = missing.first()?;
    let line = |name: &str| format!("`{}`", quote::agent_line(name, 100));
    let what = format!(
        "nothing reported the required check {} for this commit in {MISSING_MINUTES_MAX} minutes",
        line(first)
    );
    let names: Vec<&str> = found.iter().map(|check| check.name.as_str()).collect();
    if names.is_empty() {
        return Some(format!(
            "{what}, nor any other check: make sure that CI runs for branches `symphony/**`, and that the branch has no conflict with its base"
        ));
    }
    let reported: Vec<String> = names
        .iter()
        .take(NAMES_SHOWN_MAX)
        .map(|name| line(name))
        .collect();
    let reported = reported.join(", ");
    Some(match meant(first, &names) {
        Some(near) => format!(
            "{what}; did you mean {}? These are reported: {reported}",
            line(near)
        ),
        None => format!("{what}; these are reported: {reported}"),
    })
}

fn point_begin(name: &str) -> String {
    format!("{POINT_BEGIN}{}`", quote::agent_line(name, 100))
}

fn point_text(check: &RedCheck, log: &Log) -> String {
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
    let text = match log {
        Log::None => head,
        Log::Unread(why) => format!("{head} Its log could not be read: {why}."),
        Log::End(log) => {
            let room = LOG_CHARS_MAX.saturating_sub(head.chars().count().saturating_sub(400));
            match plain_end(log, room) {
                end if end.is_empty() => head,
                end => format!("{head} The end of its log:\n\n{end}"),
            }
        }
    };
    text.chars().take(POINT_CHARS_MAX).collect()
}
