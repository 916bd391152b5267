//! An issue that was read at the tracker.

use std::collections::BTreeMap;

use symphony_core::id::IssueId;
use symphony_core::log::TrackerEntry;
use symphony_core::profile::AgentChoice;
use symphony_store::{LinkNews, NewIssue, NewLink, TrackerLink};
use symphony_tracker::arrival::{
    Around, Arrival, Changed, HowRead, Import, Reading, Step, plan_arrival,
};
use symphony_tracker::base::{Base, RemoteFields};
use symphony_tracker::change::ChangeId;
use symphony_tracker::confirm::link_created;
use symphony_tracker::linked::{Conflict, Covers, Field, LocalIssue, Side};
use symphony_tracker::relations::{resolve, waiting};
use symphony_tracker::remote::RemoteIssue;
use symphony_tracker::taking::{Taking, resume};
use symphony_workspace::Failpoint;

use super::mirror::{Mirror, Settling, as_tracker};
use super::text::entries;
use crate::order::add_issue;
use crate::outreach::stop::Stop;

/// How often a decision is made again because the issue changed here meanwhile. A person and an agent together do not write this
/// fast; what is left is decided in the next round.
const DECISIONS_MAX: usize = 5;

impl Mirror<'_> {
    /// Takes over what an issue of the tracker changed.
    pub(super) async fn arrive(&mut self, issue: &RemoteIssue) -> Result<(), Stop> {
        let link = self
            .session
            .store
            .link_of_external(self.record.id, &issue.id)?;
        match link {
            None => self.arrive_new(issue).await,
            Some(link) => match link.issue.clone() {
                None => self.arrive_unlinked(&link, issue).await,
                Some(ours) => {
                    self.arrive_linked(&link, &ours, issue, HowRead::OnPage)
                        .await
                }
            },
        }
    }

    /// An issue that was linked before. If it was deleted here, it is not taken in again; if it was gone there, it came back.
    async fn arrive_unlinked(
        &mut self,
        link: &TrackerLink,
        issue: &RemoteIssue,
    ) -> Result<(), Stop> {
        let project = self.session.project.id.clone();
        let external = self.external_of(issue);
        let store = &mut self.session.store;
        let Some(ours) = store.issue_of_external(&project, &external)? else {
            return Ok(());
        };
        let link = store.relink_issue(&as_tracker(), link.id, &ours)?;
        self.arrive_linked(&link, &ours, issue, HowRead::ById).await
    }

    /// Returns the id under which an issue is taken in.
    fn external_of(&self, issue: &RemoteIssue) -> String {
        format!("{}#{}", self.record.place, issue.id)
    }

    async fn arrive_new(&mut self, issue: &RemoteIssue) -> Result<(), Stop> {
        let around = self.around(issue, None)?;
        let reading = Reading {
            issue,
            how: HowRead::OnPage,
        };
        match plan_arrival(self.settings, reading, None, &around) {
            Arrival::Import(import) => self.import(issue, &import).await,
            Arrival::Created {
                change,
                issue: ours,
            } => self.link_sub_issue(issue, &change, &ours).await,
            _ => Ok(()),
        }
    }

    /// Takes an issue in. Its external id is written with it: if this dies before the link is made, the next look finds the issue and
    /// makes the link.
    async fn import(&mut self, issue: &RemoteIssue, import: &Import) -> Result<(), Stop> {
        let external = self.external_of(issue);
        let project = self.session.project.id.clone();
        let known = self.session.store.issue_of_external(&project, &external)?;
        let context = as_tracker();
        if let Some(ours) = known {
            return self.adopt(issue, import, &ours).await;
        }
        let new = NewIssue {
            project,
            title: import.title.clone(),
            description: import.description.clone(),
            status: import.status,
            priority: import.priority,
            size: None,
            labels: import.labels.clone(),
            parent: None,
            depends_on: Vec::new(),
            external_id: Some(external),
            choice: AgentChoice::default(),
        };
        let ours = match add_issue(self.session, &context, &new) {
            Ok(added) => added.id,
            Err(error) => {
                let text = format!("{} was not taken in: {error}", issue.key);
                self.report.problems.push(text);
                return Ok(());
            }
        };
        Failpoint::TrackerAdded.reach();
        let log = entries(&self.settings.name, &[], &import.notes);
        self.link_import(issue, &ours, &import.base, &import.steps, log)
            .await
    }

    /// Links an issue that is here already: a process died between its import and its link, or an export of the tracker was imported. Nothing
    /// says which side is newer, so the tracker's texts and priority win, and what ours had goes into the log; labels of both stay.
    async fn adopt(
        &mut self,
        issue: &RemoteIssue,
        import: &Import,
        ours: &IssueId,
    ) -> Result<(), Stop> {
        let had = self.session.store.issue(ours)?;
        let mut steps = Vec::new();
        let mut conflicts = Vec::new();
        let mut lost = |field: Field, lost: String| {
            conflicts.push(Conflict {
                field,
                loser: Side::Ours,
                lost,
            });
        };
        if had.title != import.title {
            lost(Field::Title, had.title);
            let title = import.title.clone();
            steps.push(Step::SetTitle { title });
        }
        if had.description != import.description {
            lost(Field::Description, had.description);
            let description = import.description.clone();
            steps.push(Step::SetDescription { description });
        }
        if had.priority != import.priority {
            lost(Field::Priority, had.priority.name().to_owned());
            let priority = import.priority;
            steps.push(Step::SetPriority { priority });
        }
        let missing = import
            .labels
            .iter()
            .filter(|label| !had.labels.contains(label));
        let add: Vec<String> = missing.cloned().collect();
        if !add.is_empty() {
            let remove = Vec::new();
            steps.push(Step::SetLabels { add, remove });
        }
        // As in `take_over`: the log first.
        self.note(ours, &entries(&self.settings.name, &conflicts, &[]))?;
        let mut log = entries(&self.settings.name, &[], &import.notes);
        log.extend(self.carry_out(ours, &steps));
        let now = self.session.store.issue(ours)?;
        let base = Base {
            local: LocalIssue::from(&now).fields(),
            ..import.base.clone()
        };
        self.link_import(issue, ours, &base, &import.steps, log)
            .await
    }

    /// Links an issue that was taken in, takes over its relations, and reads what was said about it before.
    async fn link_import(
        &mut self,
        issue: &RemoteIssue,
        ours: &IssueId,
        base: &Base,
        relations: &[Step],
        mut log: Vec<TrackerEntry>,
    ) -> Result<(), Stop> {
        let link = self.session.store.link_issue(
            &as_tracker(),
            &NewLink {
                tracker: (self.record.id, &self.settings.name),
                external: &issue.id,
                key: &issue.key,
                url: &issue.url,
                issue: ours,
                base,
            },
        )?;
        self.report.taken_in.push((ours.clone(), issue.key.clone()));
        log.extend(self.carry_out(ours, relations));
        self.settle(
            link.id,
            ours,
            Settling {
                base,
                settled: &[],
                untried: &[],
                entries: log,
            },
        )?;
        self.hear_earlier(issue).await
    }

    /// Reads what was said about an issue before it was linked: a look at what changed may have passed these comments.
    async fn hear_earlier(&mut self, issue: &RemoteIssue) -> Result<(), Stop> {
        if self.has_all_comments {
            return Ok(());
        }
        for comment in self.client.comments(&issue.id).await? {
            self.hear(&comment)?;
        }
        Ok(())
    }

    /// Links an issue that a change of ours made, whose answer was lost.
    async fn link_sub_issue(
        &mut self,
        issue: &RemoteIssue,
        change: &ChangeId,
        ours: &IssueId,
    ) -> Result<(), Stop> {
        let waiting = self.session.store.waiting_change(self.record.id, change)?;
        let Some(waiting) = waiting else {
            return Ok(());
        };
        let Covers::SubIssue { local, .. } = &waiting.covers else {
            return Ok(());
        };
        let base = link_created(self.settings, &waiting.outgoing.change, local, issue);
        self.link_created_issue(issue, ours, &base).await?;
        // Where it has no parent yet, the change is not done: its next attempt finds the issue and puts it below.
        if issue.parent.as_ref() != Some(&waiting.outgoing.target) {
            return Ok(());
        }
        let context = as_tracker();
        let news = LinkNews {
            settled: std::slice::from_ref(change),
            ..LinkNews::of(waiting.link)
        };
        Ok(self.session.store.settle_link(&context, &news)?)
    }

    /// Makes the link of an issue that Symphony made at the tracker.
    pub(super) async fn link_created_issue(
        &mut self,
        issue: &RemoteIssue,
        ours: &IssueId,
        base: &Base,
    ) -> Result<(), Stop> {
        let context = as_tracker();
        let link = self.session.store.link_issue(
            &context,
            &NewLink {
                tracker: (self.record.id, &self.settings.name),
                external: &issue.id,
                key: &issue.key,
                url: &issue.url,
                issue: ours,
                base,
            },
        )?;
        // People may have edited it between its making and this: the answer is read once more, as what the tracker has now.
        self.arrive_linked(&link, ours, issue, HowRead::ById)
            .await?;
        let base = self.session.store.link(link.id)?.base;
        self.settle(
            link.id,
            ours,
            Settling {
                base: &base,
                settled: &[],
                untried: &[],
                entries: Vec::new(),
            },
        )?;
        self.leave_parts(&link, ours)
    }

    /// Takes over what a linked issue of the tracker changed.
    pub(super) async fn arrive_linked(
        &mut self,
        link: &TrackerLink,
        ours: &IssueId,
        issue: &RemoteIssue,
        how: HowRead,
    ) -> Result<(), Stop> {
        let mut read = issue.clone();
        let mut how = how;
        for _ in 0..DECISIONS_MAX {
            let link = self.session.store.link(link.id)?;
            let (linked, entry) = self.session.store.linked_issue(&link, ours)?;
            let around = self.around(&read, Some(&linked.base.remote))?;
            let reading = Reading { issue: &read, how };
            match plan_arrival(self.settings, reading, Some(&linked), &around) {
                Arrival::ReadAgain => {
                    let ids = [read.id.clone()];
                    let Some(fresh) = self.client.issues(&ids).await?.into_iter().next() else {
                        return Ok(());
                    };
                    (read, how) = (fresh, HowRead::ById);
                }
                Arrival::Changed(changed) => {
                    // A person's edit between the look and the steps would be overwritten by a decision that does not know it.
                    if self.session.store.last_entry_of(ours)? != entry {
                        continue;
                    }
                    return self.take_over(&link, ours, &changed);
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Notes what is about to be carried out, and what loses by it. After a death in between, the next round knows that these steps are no
    /// edits of ours, and the log has what ours had. At worst it has that twice.
    fn begin_steps(
        &mut self,
        link: &TrackerLink,
        ours: &IssueId,
        changed: &Changed,
        lost: &[TrackerEntry],
    ) -> Result<(), Stop> {
        if changed.steps.is_empty() {
            return self.note(ours, lost);
        }
        let taking = Taking {
            base: changed.base.clone(),
            steps: changed.steps.clone(),
            since: 0,
        };
        let context = as_tracker();
        let store = &mut self.session.store;
        Ok(store.begin_taking(&context, (link.id, ours), &taking, lost)?)
    }

    /// Brings the bases in line with steps that a death cut short, before anything is compared with them.
    pub(super) fn resume(&mut self) -> Result<(), Stop> {
        for (link, taking) in self.session.store.begun_takings(self.record.id)? {
            let Some(ours) = link.issue.clone() else {
                continue;
            };
            let done = self.session.store.carried_since(&ours, taking.since)?;
            let base = resume(self.settings, &link.base, &taking, done);
            self.settle(
                link.id,
                &ours,
                Settling {
                    base: &base,
                    settled: &[],
                    untried: &[],
                    entries: Vec::new(),
                },
            )?;
        }
        Ok(())
    }

    /// Writes into an issue's log.
    fn note(&mut self, issue: &IssueId, log: &[TrackerEntry]) -> Result<(), Stop> {
        if log.is_empty() {
            return Ok(());
        }
        let context = as_tracker();
        Ok(self.session.store.note_tracker(&context, issue, log)?)
    }

    fn take_over(
        &mut self,
        link: &TrackerLink,
        ours: &IssueId,
        changed: &Changed,
    ) -> Result<(), Stop> {
        let lost = entries(&self.settings.name, &changed.conflicts, &[]);
        self.begin_steps(link, ours, changed, &lost)?;
        let mut log = entries(&self.settings.name, &[], &changed.notes);
        log.extend(self.carry_out(ours, &changed.steps));
        Failpoint::TrackerSteps.reach();
        if !changed.steps.is_empty() {
            self.report.note_changed(ours);
        }
        self.settle(
            link.id,
            ours,
            Settling {
                base: &changed.base,
                settled: &changed.settled,
                untried: &changed.untried,
                entries: log,
            },
        )
    }

    /// Looks up the other issues that an issue names.
    fn around(&self, issue: &RemoteIssue, before: Option<&RemoteFields>) -> Result<Around, Stop> {
        let store = &self.session.store;
        let now = issue.parent.iter().chain(&issue.blocked_by);
        let before = before
            .into_iter()
            .flat_map(|fields| fields.parent.iter().chain(&fields.blocked_by));
        let mut links = BTreeMap::new();
        for external in now.chain(before) {
            if links.contains_key(external) {
                continue;
            }
            let link = store.link_of_external(self.record.id, external)?;
            if let Some(ours) = link.and_then(|link| link.issue) {
                links.insert(external.clone(), ours);
            }
        }
        Ok(Around {
            links,
            sub_issues: store.waiting_sub_issues(self.record.id)?,
        })
    }

    /// Takes over relations whose other end was linked after them.
    pub(super) fn resolve_relations(&mut self) -> Result<(), Stop> {
        for link in self.session.store.waiting_links(self.record.id)? {
            let Some(ours) = link.issue.clone() else {
                continue;
            };
            let mut links = BTreeMap::new();
            for external in waiting(&link.base) {
                let other = self
                    .session
                    .store
                    .link_of_external(self.record.id, external)?;
                if let Some(issue) = other.and_then(|other| other.issue) {
                    links.insert(external.clone(), issue);
                }
            }
            if links.is_empty() {
                continue;
            }
            let (steps, base) = resolve(&link.base, &links);
            let log = self.carry_out(&ours, &steps);
            self.report.note_changed(&ours);
            self.settle(
                link.id,
                &ours,
                Settling {
                    base: &base,
                    settled: &[],
                    untried: &[],
                    entries: log,
                },
            )?;
        }
        Ok(())
    }
}
