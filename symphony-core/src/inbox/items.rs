//! Items of the inbox that are about no issue: plans, runs, holds, projects.

use super::InboxKind;
use super::item::{InboxItem, NAMED_MAX};
use crate::Timestamp;
use crate::command_line::shell_quoted;
use crate::config_change::AtWork;
use crate::exit_handling::PutOff;
use crate::gates::{BASE_HAS_CHANGED, GateRepair, KnownGates, persons_part, telling_line, ways_on};
use crate::hold::{ProbeItem, lone_item};
use crate::id::{IssueId, PlanId, PlanPhaseId, ProjectId, RunId};
use crate::left_behind::{LeftBehind, LeftKind, left_behind_text};
use crate::listing::list_few;
use crate::outside::{BaseNotice, GoneBase, NoticeKind, notice_answers};
use crate::plan::state::{Choice, PlanStatus};
use crate::tick::{CleanUp, Hold, HoldScope, LiveRun, Reason};
use crate::watchdog::Stuck;
use crate::wording::counted;

/// After how many tries a person hears of what failed: the first ones are for problems that pass without help.
const PUT_OFF_SHOWN: u32 = 3;

/// Returns the command that raises a cap, whose key the text of a reached cap ends with.
pub(super) fn raise_cap(text: &str) -> String {
    let key = text
        .rsplit_once('(')
        .map_or("spending", |(_, key)| key.trim_end_matches(')'));
    format!("symphony config set {key} VALUE")
}

/// Returns the item of a plan's phase that awaits a decision.
pub fn plan_item(
    plan: &PlanId,
    phase: &PlanPhaseId,
    project: &ProjectId,
    error: &str,
    since: Timestamp,
) -> InboxItem {
    let reason = brief_reason(error);
    let decide = |choice: &Choice| format!("symphony plan decide --plan {plan} {phase} {choice}");
    let mut answers: Vec<String> = Choice::ALL.iter().map(decide).collect();
    answers.push(format!("symphony plan status --plan {plan}"));
    InboxItem {
        project: Some(project.clone()),
        text: format!("phase {phase} of plan {plan} awaits a decision: {reason}"),
        answers,
        ..InboxItem::new(
            InboxKind::Plan,
            since,
            format!("plan:{plan}:{phase}:{}", since.as_millisecond()),
        )
    }
}

/// Returns the first line of an error, or, if that announces an output, its line with the reason.
fn brief_reason(error: &str) -> String {
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let output = rest
        .rsplit_once("[exit code ")
        .map_or(rest, |(output, _)| output);
    match telling_line(output) {
        Some(why) if first.ends_with(':') => format!("{first} {why}"),
        _ => first.trim_end_matches(':').to_owned(),
    }
}

/// Whose run left work in no commit.
#[derive(Debug, Clone, Copy)]
pub enum LeftBy<'a> {
    /// An issue's, which has this title.
    Issue(&'a IssueId, &'a str),
    /// That of a plan's phase.
    Phase(&'a PlanId, &'a PlanPhaseId),
    /// That of the review of a plan's work, by a judge or by gates.
    PlanReview(&'a PlanId),
}

/// Returns the item of a run that left work in no commit.
pub fn left_behind_item(
    run: &RunId,
    project: &ProjectId,
    by: LeftBy<'_>,
    left: &[LeftBehind],
    since: Timestamp,
) -> InboxItem {
    let mut answers = vec![format!("symphony runs show {run}")];
    let has = |kind| left.iter().any(|left| left.kind == kind);
    let is_nested = has(LeftKind::Repository);
    let put_aside = left.iter().filter_map(|left| match left.kind {
        LeftKind::PutAside | LeftKind::Unreferenced | LeftKind::Saved => {
            Some(format!("git log -p {}", left.path))
        }
        LeftKind::OtherBranch => Some(format!("git log -p {}", shell_quoted(&left.path))),
        LeftKind::Stash => Some(format!("git stash apply {}", left.path)),
        _ => None,
    });
    answers.extend(put_aside.take(NAMED_MAX));
    let (issue, title, text, absorb) = match by {
        LeftBy::Issue(issue, title) => (
            Some(issue.clone()),
            title.to_owned(),
            left_behind_text(left, AtWork::Agent),
            format!("symphony issue retry {issue} --absorb"),
        ),
        LeftBy::Phase(plan, phase) => (
            None,
            String::new(),
            format!(
                "phase {phase} of plan {plan}: {}",
                left_behind_text(left, AtWork::Agent)
            ),
            format!("symphony plan retry --plan {plan} {phase} --absorb"),
        ),
        LeftBy::PlanReview(plan) => (
            None,
            String::new(),
            format!(
                "the review of plan {plan}: {}",
                left_behind_text(left, AtWork::Agent)
            ),
            format!("symphony plan status --plan {plan}"),
        ),
    };
    if is_nested {
        answers.push(absorb);
    }
    InboxItem {
        key: format!("left_behind:{run}"),
        kind: InboxKind::LeftBehind,
        project: Some(project.clone()),
        issue,
        title,
        since,
        until: None,
        text,
        answers,
    }
}

/// Returns the item of a notice: commits that reached the base branch without Symphony, or settings that changed
/// meanwhile. `plan` is the status of the plan that it is about.
pub fn notice_item(
    id: i64,
    notice: &BaseNotice,
    title: String,
    since: Timestamp,
    plan: Option<PlanStatus>,
) -> InboxItem {
    let key = format!("notice:{id}");
    let kind = match notice.kind {
        NoticeKind::Settings | NoticeKind::Configuration | NoticeKind::Refs | NoticeKind::Warm => {
            InboxKind::Settings
        }
        _ => InboxKind::Base,
    };
    InboxItem {
        kind,
        project: Some(notice.project.clone()),
        issue: notice.issue().cloned(),
        title,
        since,
        until: None,
        text: notice.text.clone(),
        answers: notice_answers(notice, &key, plan),
        key,
    }
}

/// Returns the item of a base branch that is gone; that of one pull request is its issue's.
pub fn gone_base_item(gone: &GoneBase) -> InboxItem {
    let issue = match gone.prs.as_slice() {
        [only] => only.of.issue().cloned(),
        _ => None,
    };
    InboxItem {
        project: Some(gone.project.clone()),
        issue,
        text: gone.text(),
        answers: gone.answers(),
        ..InboxItem::new(
            InboxKind::Base,
            gone.since,
            format!("base:gone:{}:{}:{}", gone.project, gone.branch, gone.commit),
        )
    }
}

/// The name of a pause among the holds.
pub const PAUSE_KEY: &str = "pause";

/// Returns the item of a pause: a person made it, and nothing starts before a person ends it.
pub fn pause_item(since: Timestamp) -> InboxItem {
    InboxItem {
        text: "Symphony is paused: no agent starts".to_owned(),
        answers: vec!["symphony resume".to_owned()],
        ..InboxItem::new(
            InboxKind::Hold,
            since,
            format!("hold:{PAUSE_KEY}:{}", since.as_millisecond()),
        )
    }
}

/// Returns the item of issues that agents proposed; `None` if there are none. The newest one is its key, so that it is
/// reported again when there are more.
pub fn proposals_item(
    project: &ProjectId,
    issues: &[IssueId],
    since: Timestamp,
) -> Option<InboxItem> {
    let (first, newest) = (issues.first()?, issues.last()?);
    let names = list_few(issues.iter().map(IssueId::as_str), NAMED_MAX);
    let count = counted(issues.len() as u64, "issue");
    let wait = if issues.len() == 1 { "waits" } else { "wait" };
    Some(InboxItem {
        project: Some(project.clone()),
        text: format!("{count} that agents proposed {wait} in the backlog: {names}"),
        answers: vec![
            "symphony issue list --status backlog".to_owned(),
            format!("symphony issue move {first} todo"),
            format!("symphony issue move {first} cancelled"),
        ],
        ..InboxItem::new(
            InboxKind::Proposals,
            since,
            format!("proposals:{project}:{newest}"),
        )
    })
}

/// Returns the item of a hold; `gates` are those of its project, if the hold is about them, and `login` is the command
/// that logs its provider's program in, if it is about a provider.
pub fn hold_item(
    hold: &Hold,
    since: Timestamp,
    gates: &KnownGates,
    login: Option<&str>,
) -> InboxItem {
    let resume = ["symphony doctor", "symphony resume"].map(str::to_owned);
    let resume_first = ["symphony resume", "symphony doctor"].map(str::to_owned);
    let name = &hold.scope;
    let under_way = match &hold.scope {
        HoldScope::Gates(_) => gates.repair_under_way(&hold.reason),
        _ => None,
    };
    let (project, answers) = match &hold.scope {
        HoldScope::Project(id) => {
            let answers = vec![raise_cap(&hold.reason)];
            (Some(id.clone()), answers)
        }
        HoldScope::Gates(id) => {
            let answers = ways_on(&hold.reason, gates);
            (Some(id.clone()), answers)
        }
        HoldScope::Provider(_) if hold.class.is_of_account() => {
            let login = login.map(str::to_owned);
            (None, login.into_iter().chain(resume_first).collect())
        }
        HoldScope::Provider(_) | HoldScope::Model { .. } | HoldScope::Everything => {
            (None, resume.to_vec())
        }
    };
    let reason = Reason::Held {
        scope: hold.scope.clone(),
        until: hold.until,
        why: hold.reason.clone(),
    };
    let repair = under_way
        .map(|GateRepair { issue, status, .. }| format!("{issue} (`{status}`) is meant to fix it"));
    let next = match &hold.scope {
        HoldScope::Gates(_) if gates.has_moved => Some(BASE_HAS_CHANGED.to_owned()),
        HoldScope::Gates(_) => persons_part(&hold.reason).map(str::to_owned),
        _ => None,
    };
    InboxItem {
        project,
        until: reason.due().map(|due| due.at),
        text: [Some(reason.to_string()), repair, next]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; "),
        answers,
        ..InboxItem::new(
            InboxKind::Hold,
            since,
            format!("hold:{name}:{}", since.as_millisecond()),
        )
    }
}

/// Returns the item for the only candidate, which fails every probe of a hold: it is unknown whether it or the provider
/// is at fault. `None` if others can be compared with it.
pub fn lone_probe_item(hold: &Hold, project: Option<&ProjectId>) -> Option<InboxItem> {
    let trial = lone_item(hold)?;
    let item = &trial.item;
    let (issue, look) = match item {
        ProbeItem::Issue(issue) => (Some(issue), format!("symphony explain {issue}")),
        ProbeItem::Plan(plan) | ProbeItem::Phase(plan, _) => {
            (None, format!("symphony plan status --plan {plan}"))
        }
        ProbeItem::Project(..) => (None, "symphony runs list".to_owned()),
    };
    let mut answers = vec![look, "symphony doctor".to_owned()];
    answers.extend(issue.map(|issue| format!("symphony issue edit {issue} --description TEXT")));
    answers.push("symphony resume".to_owned());
    Some(InboxItem {
        key: format!(
            "probe:{item}:{}:{}",
            hold.scope,
            hold.placed_at.as_millisecond()
        ),
        kind: InboxKind::Probe,
        project: project.cloned(),
        issue: issue.cloned(),
        title: String::new(),
        since: hold.placed_at,
        until: Some(hold.until).filter(|until| *until != Timestamp::MAX),
        text: format!(
            "{item} failed {} of {} in a row, and no other item is waiting that could show whether it or the provider \
             is at fault; {}",
            counted(hold.probes.into(), "probe"),
            hold.scope,
            hold.reason
        ),
        answers,
    })
}

/// Returns the item of a project that nothing is dispatched for.
pub fn project_item(
    project: &ProjectId,
    problem: &str,
    answer: &str,
    since: Timestamp,
) -> InboxItem {
    InboxItem {
        project: Some(project.clone()),
        text: problem.to_owned(),
        answers: vec![answer.to_owned()],
        ..InboxItem::new(
            InboxKind::Project,
            since,
            format!("project:{project}:{problem}"),
        )
    }
}

/// Returns the item of a tick that holds the turn and makes no progress: nothing is dispatched until it ends.
pub fn stuck_tick_item(stuck: &Stuck, now: Timestamp) -> InboxItem {
    let pid = stuck.pid.unwrap_or_default();
    InboxItem {
        text: format!(
            "the tick of process {pid} {}: nothing starts until a later tick ends it",
            stuck.words()
        ),
        answers: vec!["symphony tick".to_owned(), "symphony doctor".to_owned()],
        ..InboxItem::new(
            InboxKind::Stuck,
            ago(now, stuck.for_ms),
            format!("stuck:tick:{pid}:{}", stuck.start_time.unwrap_or_default()),
        )
    }
}

/// Returns the item of a run whose supervisor makes no progress, and has not been ended yet.
pub fn stuck_run_item(live: &LiveRun, stuck: &Stuck, now: Timestamp) -> InboxItem {
    let run = &live.run;
    InboxItem {
        project: Some(live.project.clone()),
        issue: live.issue.clone(),
        text: format!("the supervisor of run {run} {}", stuck.words()),
        answers: vec![
            "symphony tick".to_owned(),
            format!("symphony runs cancel --force {run}"),
        ],
        ..InboxItem::new(
            InboxKind::Stuck,
            ago(now, stuck.for_ms),
            format!("stuck:{run}"),
        )
    }
}

/// Returns the item of a run whose work could not be saved, again and again: the machine may need repair.
pub fn put_off_item(live: &LiveRun, put_off: &PutOff) -> Option<InboxItem> {
    let run = &live.run;
    (put_off.tries >= PUT_OFF_SHOWN).then(|| InboxItem {
        key: format!("put_off:{run}"),
        kind: InboxKind::Stuck,
        project: Some(live.project.clone()),
        issue: live.issue.clone(),
        title: String::new(),
        since: live.started_at,
        until: Some(put_off.due_at),
        text: format!(
            "the work of run {run} is not saved yet (tried {}): {}",
            counted(put_off.tries.into(), "time"),
            put_off.problem
        ),
        answers: vec![
            "symphony doctor".to_owned(),
            format!("symphony runs show {run}"),
        ],
    })
}

/// Returns the item of a worktree that could not be removed, again and again, although its issue has ended.
pub fn clean_up_item(clean_up: &CleanUp) -> Option<InboxItem> {
    let put_off = clean_up.put_off.as_ref()?;
    let issue = &clean_up.issue;
    (put_off.tries >= PUT_OFF_SHOWN).then(|| InboxItem {
        key: format!("clean_up:{issue}"),
        kind: InboxKind::Stuck,
        project: Some(clean_up.project.clone()),
        issue: Some(issue.clone()),
        title: String::new(),
        since: clean_up.since.unwrap_or(put_off.due_at),
        until: Some(put_off.due_at),
        text: format!(
            "it has ended, but its worktree cannot be removed (tried {}): {}",
            counted(put_off.tries.into(), "time"),
            put_off.problem
        ),
        answers: vec!["symphony clean".to_owned()],
    })
}

/// The moment some milliseconds ago.
fn ago(now: Timestamp, milliseconds: u64) -> Timestamp {
    let back = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    let at = now.as_millisecond().saturating_sub(back);
    Timestamp::from_millisecond(at).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_red_check_is_a_line_of_its_output() {
        for (error, expected) in [
            ("its agent left", "its agent left"),
            (
                "check `a` failed:\nno\n[exit code 7]",
                "check `a` failed: no",
            ),
            ("check `a` failed:\n[exit code 7]", "check `a` failed"),
            (
                "check `a` failed:\n[it did not end within 3000 ms]",
                "check `a` failed: [it did not end within 3000 ms]",
            ),
            ("a merge conflict\nin b.txt", "a merge conflict"),
        ] {
            assert_eq!(brief_reason(error), expected, "{error}");
        }
    }
}
