//! The pull request at the forge: opened, and its texts kept up to date.

use std::collections::BTreeSet;

use symphony_core::log::TrackerEntry;
use symphony_core::pull_request::{PullRequest, PullRequestOf, VerdictKind};
use symphony_forge::change::NewPull;
use symphony_forge::remote::RemoteState;
use symphony_forge::text::{GateLine, Said, Written, plan_text};
use symphony_workspace::Failpoint;

use super::round::{Mirrored, Round};
use crate::outreach::stop::Stop;

impl Round<'_> {
    /// Opens the pull request there, unless it is open. One that was opened before a death, or by hand, is taken over.
    pub(super) async fn open(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        if both.theirs.is_some() {
            return Ok(());
        }
        let (branch, base) = (&both.pr.branch, &both.pr.base);
        let found = self.client.find(branch, base).await?;
        let found = found.filter(|found| found.state == RemoteState::Open);
        let written = self.written(&both.pr)?;
        let theirs = if let Some(found) = found {
            found
        } else {
            let new = NewPull {
                title: written.title.clone(),
                body: written.body(),
                head_branch: branch.clone(),
                base_branch: base.clone(),
                labels: self.labels(&both.pr.of)?,
            };
            let opened = self.client.open(&new).await?;
            Failpoint::ForgeOpened.reach();
            self.report.opened.push(both.pr.id);
            opened
        };
        both.pull.number = Some(theirs.number);
        both.pull.url = Some(theirs.url.clone());
        both.pull.is_open = true;
        // One that was found is ours to write if it has our part; of one that people opened, the title and text are theirs.
        both.pull.written = vec![written];
        let entry = TrackerEntry::Linked {
            tracker: self.settings.kind.to_string(),
            key: theirs.number.to_string(),
            url: theirs.url.clone(),
        };
        both.theirs = Some(theirs);
        self.save(both, &[entry])
    }

    /// Brings title and text there up to date, as far as they are Symphony's.
    pub(super) async fn write(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        let Some(theirs) = &both.theirs else {
            return Ok(());
        };
        let wanted = self.written(&both.pr)?;
        let change = plan_text(&both.pull.written, &wanted, theirs);
        if change.is_empty() {
            return Ok(());
        }
        let number = theirs.number;
        // Both stay ours until the answer is recorded: after a death, either can be what the forge has.
        both.pull.written.truncate(1);
        both.pull.written.push(wanted.clone());
        self.save(both, &[])?;
        let theirs = self.client.update(number, &change).await?;
        both.pull.written = vec![wanted];
        both.theirs = Some(theirs);
        self.save(both, &[])
    }

    fn written(&self, pr: &PullRequest) -> Result<Written, Stop> {
        let points = self.session.store.review_points(&pr.of)?;
        let gates: Vec<GateLine> = pr
            .gates_of_head()
            .into_iter()
            .flat_map(|gates| &gates.results)
            .map(|gate| GateLine {
                name: gate.name.clone(),
                how: gate.how(),
                passed: gate.passed,
                required: gate.required,
            })
            .collect();
        let verdict = pr.verdict_on_head().map(|verdict| {
            let word = match verdict.kind {
                VerdictKind::Approved => "approved",
                VerdictKind::Rejected => "rejected",
            };
            format!("{word} by {}", verdict.by())
        });
        Ok(Written::of(&Said {
            of: &named(&pr.of),
            title: &title(pr),
            body: &pr.body,
            head: &pr.head_commit,
            gates: &gates,
            verdict: verdict.as_deref(),
            points: &points,
        }))
    }

    fn labels(&self, of: &PullRequestOf) -> Result<BTreeSet<String>, Stop> {
        let Some(issue) = of.issue() else {
            return Ok(BTreeSet::new());
        };
        let issue = self.session.store.issue(issue)?;
        Ok(issue.labels.into_iter().collect())
    }
}

/// Names what a pull request is of. People at the forge see no plan: a plan with the name `plan` is called the plan `plan`.
fn named(of: &PullRequestOf) -> String {
    match of.plan() {
        Some(plan) => format!("Plan `{plan}`"),
        None => of.to_string(),
    }
}

/// Returns the title there. A plan's says which one it is: its own can be that of its only phase.
fn title(pr: &PullRequest) -> String {
    match pr.of.plan() {
        Some(plan) => format!("Plan {plan}: {}", pr.title),
        None => pr.title.clone(),
    }
}
