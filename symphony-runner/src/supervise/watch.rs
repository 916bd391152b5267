//! The limits of a running agent as a pure state machine: time, silence, repetition, lingering (spec: lifecycle, "Time
//! limits and killing"; orchestrator, "Stall", "Loop").

use std::num::NonZeroU32;
use std::time::Duration;

use symphony_core::config::Spending;
use symphony_core::failure::ErrorClass;
use symphony_core::metering::{Metered, usage_of};
use symphony_core::run::{RunStatus, Usage};
use symphony_core::spending::{CapReached, SpentSoFar, cap_reached};
use symphony_core::wording::counted;
use symphony_proxy::ModelTraffic;

use super::holding::Release;
use super::requests::{RequestFault, request_fault};
use crate::network::metered;
use crate::stream::{AgentEvent, LoopDetector, must_end};

/// How long a process may continue after its last result (spec: lifecycle, "Providers").
const AFTER_RESULT: Duration = Duration::from_secs(30);
/// The same for one whose conversation is over and whose input is closed: there is nothing that it could wait for (spec:
/// agents, "Agent Client Protocol").
const AFTER_TALK: Duration = Duration::from_secs(3);

/// How far a conversation with an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TalkPhase {
    /// The agent works.
    Working,
    /// Its turn has ended; what it was sent last may begin another.
    Idle,
    /// Nothing more is to be said, and its input is closed.
    Over,
}

/// Why Symphony ends an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It exceeded its time limit.
    TimedOut(Duration),
    /// It was silent for too long.
    Stalled(Duration),
    /// It made the same call again and again.
    Looping { tool: String, repeats: u32 },
    /// It started without its MCP server, or its credentials were refused.
    MustEnd(ErrorClass),
    /// Its CLI began another session than the one that it was to resume.
    OtherSession,
    /// It is done, but its process is still there.
    AfterResult,
    /// It does not read what it asked for.
    Deaf(ErrorClass),
    /// It reached a spending cap.
    OverBudget(CapReached),
    /// It searched the web more often than it may.
    TooManySearches { max: u32 },
    /// It sends too many requests to its model, or all of them fail.
    Requests(RequestFault),
    /// A person requested it.
    Cancelled,
    /// The run is not this host's any more, or may soon not be.
    Released(Release),
}

impl Stop {
    /// Returns the class of the run's error; `None` where the result counts.
    pub(crate) const fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::TimedOut(_) => Some(ErrorClass::TimedOut),
            Self::Stalled(_) => Some(ErrorClass::Stalled),
            Self::Looping { .. } => Some(ErrorClass::Looping),
            Self::MustEnd(class) | Self::Deaf(class) => Some(*class),
            Self::OtherSession => Some(ErrorClass::AgentFailed),
            Self::AfterResult => None,
            Self::OverBudget(_) => Some(ErrorClass::BudgetExhausted),
            Self::TooManySearches { .. } => Some(ErrorClass::TooManySearches),
            Self::Requests(fault) => Some(fault.class()),
            Self::Cancelled => Some(ErrorClass::Cancelled),
            Self::Released(_) => Some(Release::CLASS),
        }
    }

    /// Describes what happened; empty where the stream explains it better.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::TimedOut(limit) => format!(
                "ended after its time limit of {} s (turn_timeout_ms)",
                limit.as_secs()
            ),
            Self::Stalled(limit) => {
                format!(
                    "ended after {} s without output (stall_timeout_ms)",
                    limit.as_secs()
                )
            }
            Self::Looping { tool, repeats } => {
                format!(
                    "ended: called `{tool}` {repeats} times in a row with the same arguments and no change in the worktree"
                )
            }
            Self::OtherSession => {
                "ended: the CLI began another session than the one that it was to resume".to_owned()
            }
            Self::MustEnd(_) | Self::AfterResult => String::new(),
            Self::Deaf(_) => "ended: it does not read its standard input".to_owned(),
            Self::OverBudget(cap) => format!("ended: {cap}"),
            Self::TooManySearches { max: 0 } => {
                "ended: it searched the web, which this run may not do".to_owned()
            }
            Self::TooManySearches { max } => format!(
                "ended: it searched the web more than {} (external_research.max_searches)",
                counted(u64::from(*max), "time")
            ),
            Self::Requests(fault) => format!("ended: {fault}"),
            Self::Cancelled => "ended by a person".to_owned(),
            Self::Released(release) => release.message(),
        }
    }
}

/// Returns the status of a run that ended with a class of error.
pub(crate) const fn status_of(class: ErrorClass) -> RunStatus {
    match class {
        ErrorClass::TimedOut => RunStatus::TimedOut,
        ErrorClass::Stalled => RunStatus::Stalled,
        ErrorClass::Looping => RunStatus::Looping,
        ErrorClass::Crashed | ErrorClass::HostLost => RunStatus::Crashed,
        ErrorClass::Tampered => RunStatus::Tampered,
        ErrorClass::Cancelled => RunStatus::Cancelled,
        _ => RunStatus::Failed,
    }
}

/// The limits of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) turn: Duration,
    pub(crate) stall: Duration,
    pub(crate) loop_repeats: NonZeroU32,
    pub(crate) caps: Spending,
    /// How often it may search the web; `None` where the provider itself enforces that.
    pub(crate) searches_max: Option<u32>,
    /// Most requests to its model within a minute.
    pub(crate) requests_per_minute: u64,
}

/// The state of the watch. All times are since the agent's start.
#[derive(Debug)]
pub(crate) struct Watch {
    limits: Limits,
    last_output: Duration,
    last_result: Option<Duration>,
    linger: Duration,
    detector: LoopDetector,
    suspected: Option<(String, u32)>,
    spent: Option<SpentSoFar>,
    metered: Option<Metered>,
}

impl Watch {
    /// Starts to watch.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            last_output: Duration::ZERO,
            last_result: None,
            linger: AFTER_RESULT,
            detector: LoopDetector::new(limits.loop_repeats),
            suspected: None,
            spent: None,
            metered: None,
        }
    }

    /// Records that there was output at a time.
    pub(crate) fn heard(&mut self, now: Duration) {
        self.last_output = now;
    }

    /// Handles an event. Returns a reason to end the agent if the event gives it.
    pub(crate) fn observe(&mut self, event: &AgentEvent, now: Duration) -> Option<Stop> {
        match event {
            AgentEvent::Result(_) => self.last_result = Some(now),
            // It continues after a result, as background tasks and subagents do.
            AgentEvent::Text { .. } | AgentEvent::ToolUse(_) | AgentEvent::Init(_) => {
                self.last_result = None;
            }
            _ => {}
        }
        if let Some(found) = self.detector.observe(event) {
            self.suspected = Some((found.tool, found.repeats));
        } else if matches!(event, AgentEvent::ToolUse(_)) {
            self.suspected = None;
        }
        must_end(event).map(Stop::MustEnd)
    }

    /// Records how far a conversation is. Only its end is the end of the agent's work, whatever it has reported.
    pub(crate) fn talk_is(&mut self, phase: TalkPhase, now: Duration) {
        match phase {
            TalkPhase::Working => self.last_result = None,
            TalkPhase::Idle => {
                self.last_result.get_or_insert(now);
                self.linger = AFTER_RESULT;
            }
            TalkPhase::Over => {
                self.last_result.get_or_insert(now);
                self.linger = AFTER_TALK;
            }
        }
    }

    /// Updates the recorded spending of this run, and of everything that shares a cap with it.
    pub(crate) fn recorded(&mut self, spent: SpentSoFar) {
        self.spent = Some(spent);
    }

    /// Updates what the endpoints of the run have counted. Returns a reason to end the agent if its requests give it.
    pub(crate) fn requests(&mut self, traffic: &[ModelTraffic]) -> Option<Stop> {
        self.metered = Some(metered(traffic));
        let max = self.limits.requests_per_minute;
        let mut faults = traffic.iter().filter_map(|it| request_fault(it, max));
        let fault = faults.next().filter(|_| self.last_result.is_none())?;
        Some(Stop::Requests(fault))
    }

    /// Returns what the run has used so far, given what its CLI reported.
    pub(crate) fn usage(&self, reported: &Usage) -> Usage {
        usage_of(reported, self.metered.as_ref())
    }

    /// Returns the spending cap that is reached, given what the CLI reported.
    ///
    /// After a result it never is: the money is spent and the work done, and exit handling weighs both.
    pub(crate) fn over_budget(&self, reported: &Usage) -> Option<Stop> {
        let spent = self.spent.filter(|_| self.last_result.is_none())?;
        cap_reached(&self.limits.caps, &spent.with(&self.usage(reported))).map(Stop::OverBudget)
    }

    /// Returns a stop if the run has searched the web more often than it may.
    pub(crate) fn too_many_searches(&self, searches: u32) -> Option<Stop> {
        let max = self.limits.searches_max?;
        (searches > max).then_some(Stop::TooManySearches { max })
    }

    /// Returns the repetition that is a loop unless the worktree has changed meanwhile.
    pub(crate) fn suspected_loop(&self) -> Option<Stop> {
        self.suspected
            .as_ref()
            .map(|(tool, repeats)| Stop::Looping {
                tool: tool.clone(),
                repeats: *repeats,
            })
    }

    /// Records that the worktree changed, so the repetition was progress.
    pub(crate) fn worktree_changed(&mut self) {
        self.suspected = None;
        self.detector = LoopDetector::new(self.limits.loop_repeats);
    }

    /// Returns the limit that is reached at a time.
    pub(crate) fn due(&self, now: Duration) -> Option<Stop> {
        if now >= self.limits.turn {
            return Some(Stop::TimedOut(self.limits.turn));
        }
        if let Some(result) = self.last_result {
            return (now.saturating_sub(result) >= self.linger).then_some(Stop::AfterResult);
        }
        (now.saturating_sub(self.last_output) >= self.limits.stall)
            .then_some(Stop::Stalled(self.limits.stall))
    }
}

#[cfg(test)]
mod tests {
    use symphony_core::config::SpendingCap;
    use symphony_core::spending::{CapScope, Spent};
    use symphony_core::unit::Tokens;

    use super::*;
    use crate::stream::ToolUse;

    fn watch() -> Watch {
        Watch::new(Limits {
            turn: Duration::from_mins(10),
            stall: Duration::from_mins(7),
            loop_repeats: NonZeroU32::new(3).unwrap(),
            caps: Spending {
                issue: SpendingCap {
                    tokens: Some(Tokens::new(100)),
                    usd: None,
                },
                ..Spending::default()
            },
            searches_max: Some(2),
            requests_per_minute: 300,
        })
    }

    fn call(digest: u64) -> AgentEvent {
        AgentEvent::ToolUse(ToolUse {
            id: "1".into(),
            name: "Bash".into(),
            input: "{}".into(),
            input_digest: digest,
        })
    }

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn time_and_silence_have_their_limits() {
        let mut watch = watch();
        assert_eq!(watch.due(at(419)), None);
        assert_eq!(watch.due(at(420)), Some(Stop::Stalled(at(420))));
        watch.heard(at(400));
        assert_eq!(watch.due(at(599)), None);
        assert_eq!(watch.due(at(600)), Some(Stop::TimedOut(at(600))));
    }

    #[test]
    fn a_process_that_stays_after_its_result_is_ended_and_its_result_counts() {
        let mut watch = watch();
        let result = AgentEvent::Result(Box::default());
        assert_eq!(watch.observe(&result, at(10)), None);
        assert_eq!(watch.due(at(39)), None);
        assert_eq!(watch.due(at(40)).map(|stop| stop.class()), Some(None));
        watch.observe(&call(1), at(41));
        assert_eq!(watch.due(at(90)), None);
    }

    #[test]
    fn a_cap_ends_the_run_as_its_usage_comes_in() {
        let used = |tokens| Usage {
            input_tokens: Tokens::new(tokens),
            ..Usage::default()
        };
        let spent = |tokens| Spent {
            tokens: Tokens::new(tokens),
            ..Spent::default()
        };
        let mut watch = watch();
        assert_eq!(watch.over_budget(&used(1000)), None, "nothing is known yet");
        watch.recorded(SpentSoFar {
            run: spent(10),
            issue: Some(spent(70)),
            ..SpentSoFar::default()
        });
        assert_eq!(watch.over_budget(&used(39)), None);
        let Some(Stop::OverBudget(cap)) = watch.over_budget(&used(40)) else {
            panic!("60 of other runs and 40 of this one are 100");
        };
        assert_eq!(cap.scope, CapScope::Issue);
        // what is metered counts, whatever the CLI reports
        let metered = |tokens| {
            let mut traffic = ModelTraffic::default();
            traffic.tokens.output = tokens;
            [traffic]
        };
        assert_eq!(watch.requests(&metered(39)), None);
        assert_eq!(watch.over_budget(&used(40)), None);
        watch.requests(&metered(40));
        assert!(watch.over_budget(&used(0)).is_some());
        watch.observe(&AgentEvent::Result(Box::default()), at(1));
        assert_eq!(watch.over_budget(&used(400)), None, "its work is done");
    }

    #[test]
    fn an_agent_that_asks_its_model_too_often_is_ended_unless_its_work_is_done() {
        let mut watch = watch();
        let traffic = ModelTraffic {
            recent: 301,
            ..ModelTraffic::default()
        };
        let stop = watch.requests(&[ModelTraffic::default(), traffic]).unwrap();
        assert_eq!(stop.class(), Some(ErrorClass::Looping));
        assert!(stop.message().starts_with("ended: it sent 301 requests"));
        watch.observe(&AgentEvent::Result(Box::default()), at(1));
        assert_eq!(watch.requests(&[traffic]), None);
    }

    #[test]
    fn a_run_is_ended_past_its_searches_of_the_web() {
        let watch = |searches_max| {
            Watch::new(Limits {
                searches_max,
                ..watch().limits
            })
        };
        let limited = watch(Some(2));
        assert_eq!(limited.too_many_searches(2), None);
        let stop = limited.too_many_searches(3).unwrap();
        assert_eq!(stop.class(), Some(ErrorClass::TooManySearches));
        assert_eq!(
            stop.message(),
            "ended: it searched the web more than 2 times (external_research.max_searches)"
        );
        let forbidden = watch(Some(0)).too_many_searches(1).unwrap();
        assert_eq!(
            forbidden.message(),
            "ended: it searched the web, which this run may not do"
        );
        assert_eq!(watch(None).too_many_searches(9), None);
    }

    #[test]
    fn repetition_is_a_loop_unless_the_worktree_changes() {
        let mut watch = watch();
        for _ in 0..3 {
            watch.observe(&call(7), at(1));
        }
        assert!(watch.suspected_loop().is_some());
        watch.worktree_changed();
        assert_eq!(watch.suspected_loop(), None);
        watch.observe(&call(7), at(2));
        assert_eq!(watch.suspected_loop(), None);
    }
}
