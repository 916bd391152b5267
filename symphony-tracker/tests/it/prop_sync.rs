//! The whole sync as a model: two sides with random edits, and a process between them that can die after every step.
//!
//! The tracker of the model has a coarse clock, trims texts, ignores the case of labels, answers with or without the issue, and
//! applies changes whose answers are lost or that are cut short. Pages are decided on late, twice, or out of order. Runs start and
//! end meanwhile. When all is quiet, both sides agree and nothing is sent any more; each comment and each sub-issue exists once;
//! each edit reached the other side, was replaced by its own side, or is recorded as a conflict; and nothing was sent, and no conflict
//! recorded, without an edit as its reason.
//!
//! The model leaves out what no tracker lets Symphony see: an edit of the same field between the last reading and the request, a
//! change that is applied long after its request failed, and a marker that a person removes before the issue is linked.
//!
//! Bugs planted by hand, each of which the model catches: a confirmed change that leaves the base as it was; a marker that is never
//! found; a conflict that is not recorded; an echo of our own change that is not recognised; a page that is trusted however old it
//! is; a change without an answer that is withdrawn; an answer whose other fields are taken into the base; and a title that is sent
//! because it differs from the tracker's side of the base instead of ours.

use std::collections::BTreeSet;

use proptest::prelude::*;
use symphony_core::id::IssueId;
use symphony_core::issue::IssueStatus;
use symphony_tracker::linked::{Covers, Field};
use symphony_tracker::marker;
use symphony_tracker::remote::{ExternalId, StateGroup};

use crate::sync_model::{Case, LABELS, Op, is_equal};

/// Rounds after which all must be quiet: each round can uncover one more edit.
const ROUNDS_TO_QUIET: usize = 12;
/// Rounds that must send nothing afterwards.
const QUIET_ROUNDS: usize = 50;

impl Case {
    fn check(&mut self) {
        for _ in 0..ROUNDS_TO_QUIET {
            self.model.round();
            self.follow_edits();
        }
        assert_eq!(self.model.outbox, [], "all was sent");
        let (sent, links) = (self.model.sends.len(), self.model.links.clone());
        for _ in 0..QUIET_ROUNDS {
            self.model.round();
        }
        assert_eq!(
            (self.model.sends.len(), &self.model.links),
            (sent, &links),
            "no ping-pong"
        );
        self.check_agreement();
        self.check_created();
        self.check_reasons();
        for edit in &self.model.edits {
            let lost = self.model.conflicts[edit.conflicts_before..].iter();
            let mut lost = lost.filter(|(issue, _)| *issue == edit.issue);
            let is_recorded = lost.any(|(_, conflict)| {
                conflict.loser == edit.side && is_same_field(&conflict.field, &edit.field)
            });
            assert!(edit.is_settled() || is_recorded, "{edit:?} vanished");
        }
    }

    fn check_agreement(&self) {
        for (external, link) in &self.model.links {
            let here = &self.model.locals[&link.issue];
            let there = &self.model.tracker.issues[external];
            let mut fields = vec![Field::Title, Field::Priority];
            fields.extend(LABELS.map(|name| Field::Label(name.to_lowercase())));
            if link.made_with.as_ref() != Some(&there.body) {
                fields.push(Field::Description);
            }
            for field in fields {
                let (here, there) = (self.here(here, &field), self.there(there, &field));
                assert!(
                    is_equal(&here, &there),
                    "{field:?}: {here:?} here, {there:?} there"
                );
            }
            let status = here.ours.state.status();
            let ended = match there.state.group {
                StateGroup::Completed => Some(IssueStatus::Done),
                StateGroup::NotPlanned => Some(IssueStatus::Cancelled),
                StateGroup::Open | StateGroup::Started => None,
            };
            assert_eq!(
                status.is_terminal().then_some(status),
                ended,
                "{here:?} {there:?}"
            );
            let stale = there.labels.iter().filter(|label| {
                let entry = self.settings().states.get(&status);
                let mut names = self.settings().states.values();
                names.any(|name| name == *label) && entry != Some(label)
            });
            let stale = stale.count();
            let is_as_imported = link.imported_as == Some(status) && stale == 1;
            assert!(stale == 0 || is_as_imported, "{here:?} {there:?}");
            let was_sent = link.base.local.status == Some(status);
            assert!(was_sent, "{link:?} {here:?}");
        }
    }

    fn check_created(&self) {
        for (change, (_, result)) in &self.model.written {
            let comments = self.model.tracker.comments.values();
            let marked = comments.filter(|comment| {
                let is_own = comment.author.as_ref().unwrap().id.as_str() == "1";
                is_own && marker::find(&comment.body).as_ref() == Some(change)
            });
            let found: Vec<_> = marked.map(|comment| &comment.id).collect();
            assert_eq!(
                found,
                Vec::from_iter(result.as_ref()),
                "{change} is there once"
            );
        }
        for comment in self.model.tracker.comments.values() {
            let is_ours = comment.author.as_ref().unwrap().id.as_str() == "1";
            let kept = self.model.kept.iter().filter(|kept| **kept == comment.id);
            let is_linked = self.model.links.contains_key(&comment.issue);
            let expected = usize::from(!is_ours && is_linked);
            assert_eq!(kept.count(), expected, "{comment:?}");
        }
        for (child, local) in &self.model.locals {
            let links = self.model.links.values();
            assert_eq!(
                links.filter(|link| link.issue == *child).count(),
                1,
                "{local:?}"
            );
        }
        let made = self.model.tracker.issues.values();
        let marked = made.filter_map(|issue| marker::find(&issue.body));
        let marked: Vec<_> = marked.collect();
        let distinct: BTreeSet<_> = marked.iter().collect();
        assert_eq!(marked.len(), distinct.len(), "each sub-issue is there once");
    }

    /// Every change has an edit here as its reason, and every conflict an edit there.
    fn check_reasons(&self) {
        let model = &self.model;
        let here = |issue: &IssueId, field: &Field| {
            model.touched_here.contains(&(issue.clone(), field.clone()))
        };
        let there = |external: &ExternalId, field: &Field| {
            let touched = model.touched_there.iter();
            let mut same = touched.filter(|(on, _)| on == external);
            same.any(|(_, touched)| is_same_field(touched, field))
        };
        for (external, covers) in &model.sends {
            let link = &model.links[external];
            let has_reason = match covers {
                Covers::Title { .. } => here(&link.issue, &Field::Title),
                Covers::Description { .. } => here(&link.issue, &Field::Description),
                Covers::Labels => LABELS
                    .iter()
                    .any(|name| here(&link.issue, &Field::Label(name.to_lowercase()))),
                Covers::Priority { .. } => {
                    link.made_with.is_some() || here(&link.issue, &Field::Priority)
                }
                Covers::State { .. } | Covers::StatusLabel { .. } => {
                    link.made_with.is_some()
                        || here(&link.issue, &Field::State)
                        || there(external, &Field::State)
                }
                Covers::Comment | Covers::SubIssue { .. } => true,
            };
            assert!(has_reason, "{covers:?} without an edit of {external}");
        }
        for (issue, conflict) in &model.conflicts {
            let external = model.external_of(issue).unwrap();
            assert!(
                there(&external, &conflict.field),
                "{conflict:?} without an edit there"
            );
        }
    }
}

fn is_same_field(one: &Field, other: &Field) -> bool {
    match (one, other) {
        (Field::Label(one), Field::Label(other)) => one.eq_ignore_ascii_case(other),
        (one, other) => one == other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn both_sides_agree_in_the_end_and_no_edit_vanishes(
        kind in 0_u8..8,
        ops in prop::collection::vec(any::<Op>(), 0..120),
    ) {
        let mut case = Case::new(kind);
        for op in ops {
            case.step(op);
        }
        case.check();
    }
}
