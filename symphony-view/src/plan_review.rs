//! The pull request of a plan's work: its state, and what a person can do about it.

use serde::Serialize;
use symphony_core::gates::{ConfiguredGate, GatesAge};
use symphony_core::id::{PlanId, PrId};
use symphony_core::outside::BaseView;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_core::tick::{Hold, HoldScope, Reason};
use symphony_core::user::Attribution;
use symphony_store::{Store, StoreError};

use crate::text::Page;

/// The pull request of a plan's work.
#[derive(Debug, Clone, Serialize)]
pub struct PlanReviewView {
    pub id: PrId,
    pub state: PrState,
    /// What its reviewer wrote, and who that was.
    pub comment: Option<String>,
    pub author: Option<String>,
    /// The source that the verdict was given with, and the user of the page.
    #[serde(flatten)]
    attribution: Attribution,
    /// Why it cannot be merged as it is, and the command that resolves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    obstacle: Option<ObstacleView>,
    /// The state of its gates; `pr show` has the details.
    #[serde(skip)]
    gates: GatesOfHead,
}

/// What keeps a pull request from being merged.
#[derive(Debug, Clone, Serialize)]
struct ObstacleView {
    text: String,
    answers: Vec<String>,
}

/// The results of the gates on the head of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GatesOfHead {
    NotRun,
    /// They wait for this.
    Held(String),
    Green(GatesAge),
    Red(Vec<String>),
}

/// Returns what keeps the gates of a pull request from running, whatever their time: a pause, or a hold.
fn held(store: &Store, pr: &PullRequest) -> Result<Option<Reason>, StoreError> {
    if store.is_paused()? {
        return Ok(Some(Reason::Paused));
    }
    let keeps = |hold: &&Hold| match &hold.scope {
        HoldScope::Gates(project) => *project == pr.project,
        HoldScope::Everything => true,
        _ => false,
    };
    Ok(store.holds()?.iter().find(keeps).map(Reason::held))
}

impl PlanReviewView {
    /// Views the pull request of a plan's work.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(
        store: &Store,
        pr: &PullRequest,
        configured: &[ConfiguredGate],
    ) -> Result<Self, StoreError> {
        let gates = match pr.gates_of_head() {
            None => match held(store, pr)? {
                Some(reason) => GatesOfHead::Held(reason.to_string()),
                None => GatesOfHead::NotRun,
            },
            Some(gates) if gates.green() => GatesOfHead::Green(GatesAge::of(gates, configured)),
            Some(gates) => {
                let red = gates.red();
                GatesOfHead::Red(red.map(|gate| gate.name.clone()).collect())
            }
        };
        let verdict = pr.verdict_on_head();
        let (author, comment) = verdict
            .map(|verdict| (verdict.author.to_string(), verdict.comment.clone()))
            .unzip();
        Ok(Self {
            id: pr.id,
            state: pr.state,
            comment,
            author,
            attribution: verdict
                .map(|verdict| verdict.attribution.clone())
                .unwrap_or_default(),
            obstacle: None,
            gates,
        })
    }

    /// Adds what keeps it from being merged, as the base shows.
    pub(super) fn look_for_obstacle(&mut self, base: &BaseView) {
        self.obstacle = base.obstacle_to(self.id).map(|obstacle| ObstacleView {
            text: obstacle.text(),
            answers: obstacle.answers(&self.id.to_string()),
        });
    }

    /// Says what comes next while the plan is under review.
    pub fn next(&self) -> String {
        let id = self.id;
        if let Some(obstacle) = &self.obstacle {
            let way = obstacle.answers.first();
            let way = way.map_or_else(String::new, |way| format!(" Run `{way}` to continue."));
            return format!(
                "Pull request {id} cannot be merged: {}.{way}",
                obstacle.text
            );
        }
        match (&self.gates, self.state) {
            (GatesOfHead::Red(gates), _) => format!(
                "Required gates of pull request {id} are red: {}. `symphony pr show {id}` shows their output, \
                 `symphony inbox` what you can do.",
                gates.join(", ")
            ),
            (GatesOfHead::Held(reason), _) => format!(
                "The gates of pull request {id} wait: {reason}. `symphony inbox` shows what you can do."
            ),
            (gates, PrState::Approved) => {
                let note = match gates {
                    GatesOfHead::Green(GatesAge::Outdated) => {
                        format!(" Its gates are green{}.", GatesAge::Outdated.note())
                    }
                    _ => String::new(),
                };
                format!("Pull request {id} is approved: `symphony pr merge {id}` merges it.{note}")
            }
            (GatesOfHead::Green(age), _) => format!(
                "Its gates are green{}. If judges are enabled, the next `symphony tick` starts one; \
                 `symphony pr merge {id}` merges it.",
                age.note()
            ),
            (GatesOfHead::NotRun, _) => format!(
                "`symphony tick` runs its gates and starts its judge, `symphony pr merge {id}` merges it."
            ),
        }
    }

    /// Writes why the work was not accepted, and each way to continue.
    pub(super) fn write_not_accepted(&self, plan: &PlanId, page: &mut Page) {
        let id = self.id;
        // a verdict on a pull request that was closed later is not the reason for closing it
        let verdict = (self.state == PrState::Rejected)
            .then_some((self.author.as_deref(), self.comment.as_deref()));
        match verdict {
            Some((author, comment)) => {
                let by = match author {
                    _ if self.attribution.user.is_some() => {
                        self.attribution.name_or("a person").to_owned()
                    }
                    Some("human") | None => "a person".to_owned(),
                    Some(agent) => format!("the {agent}"),
                };
                page.line(&format!("Pull request {id} was rejected by {by}:"));
                page.verbatim(comment.unwrap_or_default());
            }
            None => page.line(&format!("Pull request {id} was closed by a person.")),
        }
        page.gap();
        page.line("You decide how the plan continues:");
        for (command, effect) in [
            (
                format!("plan retry PHASE --plan {plan}"),
                "has a phase fix it, on top of the existing work".to_owned(),
            ),
            (
                format!("plan resume --plan {plan}"),
                format!(
                    "submits the work again, with the commits that you added to symphony/plan-{plan}/base"
                ),
            ),
            (
                format!("pr approve {id} --force --comment TEXT"),
                "approves it anyway".to_owned(),
            ),
            (
                format!("plan abort --plan {plan}"),
                "aborts the plan".to_owned(),
            ),
        ] {
            page.line(&format!("- `symphony {command}` {effect}"));
        }
    }
}
