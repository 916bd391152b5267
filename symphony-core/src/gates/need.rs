//! Whether there is anything to repair: what is known of gates on the current base.

use std::collections::BTreeSet;

use super::base_text::{misses_program, names};
use crate::hold::Hold;
use crate::pull_request::SET_UP_GATE;

/// What is known of a project's gates on its current base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseGates {
    /// They have not run there: the base has moved, they were changed, or they were never needed.
    Untried,
    /// They hold the project.
    Red,
    /// They passed there; these are the required ones.
    Green {
        /// Their names.
        required: Vec<String>,
    },
    /// A person has ended their trial, or the hold that they placed: work continues nevertheless.
    Waived,
}

/// The digests of what can be tried on the current base.
#[derive(Debug, Clone, Copy)]
pub struct BaseDigests<'a> {
    /// That of the base and the configuration.
    pub tried: &'a str,
    /// The one that is recorded when all gates passed there.
    pub green: &'a str,
}

impl BaseGates {
    /// Finds out what is known, by the hold that the gates have placed and the digests that are recorded of the
    /// project.
    pub fn of(
        hold: Option<&Hold>,
        now: BaseDigests<'_>,
        recorded: &BTreeSet<String>,
        required: impl IntoIterator<Item = String>,
    ) -> Self {
        match hold.map(|hold| hold.tried.as_deref()) {
            // A result without a digest is from an older version: it is valid until it is probed.
            Some(None) => Self::Red,
            Some(Some(tried)) if tried == now.tried => Self::Red,
            None if recorded.contains(now.tried) => Self::Waived,
            None if recorded.contains(now.green) => Self::Green {
                required: required.into_iter().collect(),
            },
            Some(Some(_)) | None => Self::Untried,
        }
    }
}

/// Whether an issue that is to repair gates has anything to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepairNeed {
    /// One of them is red on the base, or it is not known that none is.
    Needed,
    /// They must be tried there first.
    Untried,
    /// All of them pass there.
    Passes,
    /// One of them is red because a program is missing on this machine, which no agent installs.
    ProgramMissing {
        /// The gate.
        gate: String,
    },
    /// Something else keeps the gates from running there.
    Held,
}

/// Decides whether an issue has anything to repair; `text` is the text of the gates' hold.
pub fn repair_need(repairs: &[String], known: &BaseGates, text: Option<&str>) -> RepairNeed {
    let text = match known {
        BaseGates::Untried => return RepairNeed::Untried,
        BaseGates::Waived => return RepairNeed::Needed,
        BaseGates::Green { required } => {
            // Optional gates do not make a base red.
            let passes = repairs.iter().all(|gate| required.contains(gate));
            return if passes {
                RepairNeed::Passes
            } else {
                RepairNeed::Needed
            };
        }
        BaseGates::Red => text.unwrap_or_default(),
    };
    let named = repairs.iter().filter(|gate| names(text, gate));
    let (missing, red): (Vec<_>, Vec<_>) = named.partition(|gate| misses_program(text, gate));
    if !red.is_empty() {
        return RepairNeed::Needed;
    }
    match missing.first() {
        Some(gate) => RepairNeed::ProgramMissing {
            gate: (*gate).clone(),
        },
        // without the set-up no gate runs, and a text that names no gate says nothing about any
        None if names(text, SET_UP_GATE) || super::named_gate(text).is_none() => RepairNeed::Held,
        // the rest of a long list is only counted
        None if counts_more(text) => RepairNeed::Needed,
        None => RepairNeed::Passes,
    }
}

fn counts_more(text: &str) -> bool {
    let count = text.strip_suffix(" more");
    let count = count.and_then(|text| text.rsplit_once(" and "));
    count.is_some_and(|(_, count)| count.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::{RedOnBase, base_red_text};
    use super::*;
    use crate::Timestamp;
    use crate::failure::ErrorClass;
    use crate::hold::HoldScope;
    use crate::id::ProjectId;

    fn hold(tried: Option<&str>) -> Hold {
        Hold {
            scope: HoldScope::Gates(ProjectId::parse("p").unwrap()),
            until: Timestamp::UNIX_EPOCH,
            placed_at: Timestamp::UNIX_EPOCH,
            class: ErrorClass::BaseGatesFailed,
            reason: String::new(),
            probes: 0,
            canary: None,
            tried: tried.map(str::to_owned),
            trials: Vec::new(),
        }
    }

    #[test]
    fn what_is_known_is_about_the_base_as_it_is_now() {
        let now = BaseDigests {
            tried: "now",
            green: "green now",
        };
        let green = BaseGates::Green {
            required: vec!["test".into()],
        };
        for (held, recorded, expected) in [
            (None, vec![], BaseGates::Untried),
            (None, vec!["test", "green then"], BaseGates::Untried),
            (None, vec!["green now"], green),
            (None, vec!["green now", "now"], BaseGates::Waived),
            (Some(Some("now")), vec!["green now"], BaseGates::Red),
            (Some(Some("then")), vec!["green now"], BaseGates::Untried),
            (Some(None), vec![], BaseGates::Red),
        ] {
            let hold = held.map(hold);
            let recorded: BTreeSet<String> = recorded.into_iter().map(str::to_owned).collect();
            let found = BaseGates::of(hold.as_ref(), now, &recorded, ["test".to_owned()]);
            assert_eq!(found, expected, "{held:?} {recorded:?}");
        }
    }

    #[test]
    fn an_issue_repairs_only_what_is_known_to_be_red() {
        let red = |name, command, exit_code| RedOnBase {
            name,
            command,
            exit_code: Some(exit_code),
            output: "see `other`",
        };
        let text = |red: &[RedOnBase<'_>]| base_red_text("main", "0123456789", red);
        let test = red("test", "make test", 1);
        let needs = |gates: &[&str], known: &BaseGates, text: &str| {
            let repairs: Vec<String> = gates.iter().map(|gate| (*gate).to_owned()).collect();
            repair_need(&repairs, known, Some(text))
        };
        let missing = |gate: &str| RepairNeed::ProgramMissing { gate: gate.into() };
        let four = ["a", "b", "c", "d"].map(|name| red(name, "x", 1));
        let no_result = "on `main` at 0123456: `test` (`make test`) came to no result: it died";
        for (gates, text, expected) in [
            (vec!["test"], text(&[test]), RepairNeed::Needed),
            (vec!["tes"], text(&[test]), RepairNeed::Passes),
            // what a gate prints names no gate
            (vec!["other"], text(&[test]), RepairNeed::Passes),
            (vec!["lint", "test"], text(&[test]), RepairNeed::Needed),
            (vec!["d"], text(&four), RepairNeed::Needed),
            (vec!["test"], no_result.to_owned(), RepairNeed::Needed),
            (
                vec!["lint"],
                text(&[red("lint", "ruff .", 127)]),
                missing("lint"),
            ),
            (
                vec!["lint"],
                text(&[test, red("lint", "CI=1 ruff check", 126)]),
                missing("lint"),
            ),
            // a program of the project can be written
            (
                vec!["lint"],
                text(&[red("lint", "./lint.sh", 127)]),
                RepairNeed::Needed,
            ),
            (
                vec!["lint"],
                text(&[red("lint", "sh tools/lint", 127)]),
                RepairNeed::Needed,
            ),
            (
                vec!["test"],
                text(&[test, red("lint", "ruff .", 127)]),
                RepairNeed::Needed,
            ),
            (
                vec!["test"],
                text(&[red(SET_UP_GATE, "npm ci", 1)]),
                RepairNeed::Held,
            ),
            (
                vec!["test"],
                "on `main` at 0123456: the gates came to no result: it died".to_owned(),
                RepairNeed::Held,
            ),
        ] {
            assert_eq!(needs(&gates, &BaseGates::Red, &text), expected, "{text}");
        }
        let green = BaseGates::Green {
            required: vec!["test".into()],
        };
        for (gates, known, expected) in [
            (vec!["test"], &BaseGates::Untried, RepairNeed::Untried),
            (vec!["test"], &BaseGates::Waived, RepairNeed::Needed),
            (vec!["test"], &green, RepairNeed::Passes),
            // it is not required
            (vec!["style"], &green, RepairNeed::Needed),
        ] {
            assert_eq!(needs(&gates, known, ""), expected, "{gates:?} {known:?}");
        }
    }
}
