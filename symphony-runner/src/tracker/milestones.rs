//! What people at the tracker read about the work: a comment for each milestone.

use symphony_core::id::{IssueId, PrId};
use symphony_core::issue::IssueEvent;
use symphony_core::log::LogEvent;
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf};
use symphony_core::review_point::PointState;
use symphony_core::user::Source;
use symphony_store::{EventRecord, PrFilter, TrackerLink};
use symphony_tracker::linked::Departing;
use symphony_tracker::milestone::{
    GateLine, GateResult, Milestone, MilestoneKind, Written, kind_of, plan,
};

use super::mirror::Mirror;
use crate::outreach::stop::Stop;

impl Mirror<'_> {
    /// Returns the comments for entries of an issue's log, and what is written about it then.
    pub(super) fn milestones(
        &self,
        link: &TrackerLink,
        issue: &IssueId,
        news: &[EventRecord],
    ) -> Result<(Written, Vec<Departing>), Stop> {
        let mut written = link.written.clone();
        let mut comments = Vec::new();
        for entry in news {
            // The tracker's people know what they did there.
            if entry.attribution.source == Some(Source::Tracker) {
                continue;
            }
            let Some(milestone) = self.milestone(issue, &entry.event())? else {
                continue;
            };
            let (after, comment) = plan(self.settings, &written, &milestone, entry.at);
            written = after;
            comments.extend(comment);
        }
        Ok((written, comments))
    }

    fn milestone(&self, issue: &IssueId, event: &LogEvent) -> Result<Option<Milestone>, Stop> {
        // Gates take minutes, and what they find is what a person wants to know first: the comment about a pull request waits
        // for them.
        if let LogEvent::GatesVerified { pr, commit, .. } = event {
            return self.opened(*pr, commit);
        }
        let Some(kind) = kind_of(event) else {
            return Ok(None);
        };
        let reason = || match event {
            LogEvent::IssueMoved { event, .. } => reason_of(event),
            _ => None,
        };
        Ok(match kind {
            MilestoneKind::Started { agent } => Some(Milestone::Started { agent }),
            MilestoneKind::Opened { pr, head } => {
                let has_gates = !self.session.configured_gates().is_empty();
                if has_gates {
                    None
                } else {
                    self.opened(pr, &head)?
                }
            }
            MilestoneKind::Rejected => Some(Milestone::Rejected {
                points: self.open_points(issue)?,
            }),
            MilestoneKind::Merged => Some(Milestone::Merged {
                commit: self.merged_commit(issue)?,
            }),
            MilestoneKind::Blocked => self.blocked(issue)?,
            MilestoneKind::Done => Some(Milestone::Done { reason: reason() }),
            MilestoneKind::Cancelled => Some(Milestone::Cancelled { reason: reason() }),
        })
    }

    /// A pull request that is still open, at the commit that the entry is about: an older one is of interest to no reader.
    fn opened(&self, pr: PrId, head: &str) -> Result<Option<Milestone>, Stop> {
        let pr = self.session.store.pr(pr)?;
        if !pr.state.is_open() || pr.head_commit != head || pr.proposal.is_some() {
            return Ok(None);
        }
        Ok(Some(Milestone::Opened {
            gates: self.gate_lines(&pr),
            title: pr.title,
            head: pr.head_commit,
        }))
    }

    fn gate_lines(&self, pr: &PullRequest) -> Vec<GateLine> {
        match pr.gates_of_head() {
            Some(verified) => verified
                .results
                .iter()
                .map(|gate| GateLine {
                    name: gate.name.clone(),
                    result: match (gate.passed, gate.required) {
                        (true, _) => GateResult::Passed,
                        (false, true) => GateResult::Failed,
                        (false, false) => GateResult::FailedOptional,
                    },
                })
                .collect(),
            None => self
                .session
                .configured_gates()
                .into_iter()
                .map(|gate| GateLine {
                    name: gate.name,
                    result: GateResult::Waiting,
                })
                .collect(),
        }
    }

    fn open_points(&self, issue: &IssueId) -> Result<Vec<String>, Stop> {
        let of = PullRequestOf::Issue(issue.clone());
        let points = self.session.store.review_points(&of)?;
        let open = points
            .into_iter()
            .filter(|point| point.state == PointState::Open);
        Ok(open.map(|point| point.text).collect())
    }

    fn merged_commit(&self, issue: &IssueId) -> Result<Option<String>, Stop> {
        let filter = PrFilter {
            issue: Some(issue.clone()),
            state: Some(PrState::Merged),
            ..PrFilter::default()
        };
        let merged = self.session.store.prs(&filter)?.into_iter().next_back();
        Ok(merged.and_then(|pr| pr.merged_commit))
    }

    /// The issue as it is now: if it was unblocked since, nothing is asked any more.
    fn blocked(&self, issue: &IssueId) -> Result<Option<Milestone>, Stop> {
        let issue = self.session.store.issue(issue)?;
        Ok(issue.state.block().map(|block| Milestone::Blocked {
            by: block.by,
            question: block.reason.clone(),
        }))
    }
}

fn reason_of(event: &IssueEvent) -> Option<String> {
    match event {
        IssueEvent::Closed { reason, .. } => Some(reason.clone()),
        _ => None,
    }
}
