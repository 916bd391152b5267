//! One case: what happens, in the order that its seed gives.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use symphony_core::id::IssueId;
use symphony_runner::session::Session;
use symphony_runner::tracker::{SyncReport, SyncWish, TrackerLimits, sync_within};
use symphony_workspace::{FAILPOINTS_VARIABLE, Unwound, unwind_after};

use super::Tally;
use super::bench::Bench;
use super::faults::plan;
use super::oracle::{Edit, Known};
use super::there::There;
use crate::trackers::POINTS;

/// Longest wait for an answer in a round with answers that are late.
const IMPATIENT: Duration = Duration::from_millis(150);
/// Longer than every wait that a fault can cause.
const LONG_MS: i64 = 2 * 3600 * 1000;

/// The generator `SplitMix64`.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).expect("it is below a usize")
    }
}

/// An issue of the case: where it was made, and what it is on each side.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    pub(super) there: Option<String>,
    pub(super) here: Option<IssueId>,
    /// Whether it was made here, as a part of another.
    pub(super) is_part: bool,
}

/// How a round dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    None,
    Unwinding,
    Kill,
}

pub(super) struct Case<'a> {
    pub(super) bench: &'a Bench,
    pub(super) chance: Chance,
    pub(super) there: There,
    pub(super) session: Session,
    pub(super) items: Vec<Item>,
    pub(super) edits: Vec<Edit>,
    /// What both sides had when they last agreed.
    pub(super) agreed: BTreeMap<(usize, String), String>,
    pub(super) known: Known,
    /// Whether this case may kill the real program.
    has_kills: bool,
    kills: usize,
    pub(super) rounds: usize,
    was_killed: bool,
    number: usize,
    story: Vec<String>,
    tally: Tally,
}

impl<'a> Case<'a> {
    pub(super) fn new(bench: &'a Bench, seed: u64) -> Self {
        let mut chance = Chance(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        // GitHub's times have no fraction: many changes can have the same one. Linear's have.
        let is_github = seed.is_multiple_of(2);
        let step_ms = [i64::from(!is_github), 40, 300, 1000][chance.below(4)];
        let skew_ms = [0, 0, -7_200_000, 5_400_000][chance.below(4)];
        let there = There::start(is_github, skew_ms, step_ms);
        let settings = there.settings(chance.below(2) == 0);
        let session = bench.begin(&settings);
        Self {
            bench,
            there,
            session,
            items: Vec::new(),
            edits: Vec::new(),
            agreed: BTreeMap::new(),
            known: Known::default(),
            has_kills: seed % 5 < 2,
            kills: 0,
            rounds: 0,
            was_killed: false,
            number: 0,
            story: vec![format!("skew {skew_ms} ms, step {step_ms} ms, {settings}")],
            tally: Tally::default(),
            chance,
        }
    }

    pub(super) fn tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    pub(super) fn count(&mut self, what: &'static str) {
        self.tally.add(what);
    }

    pub(super) fn story(&self) -> String {
        self.story.join("\n")
    }

    pub(super) fn say(&mut self, what: impl Into<String>) {
        self.story.push(what.into());
    }

    /// Returns a text that no other edit has.
    pub(super) fn word(&mut self, kind: &str) -> String {
        self.number += 1;
        format!("{kind} no{}", self.number)
    }

    /// Lives from the first edit to the last look.
    pub(super) fn live(&mut self) {
        self.deed();
        let deeds = 8 + self.chance.below(22);
        for _ in 0..deeds {
            match self.chance.below(10) {
                0..=3 => self.deed_there(),
                4..=6 => self.deed_here(),
                7 | 8 => self.stormy_round(),
                _ => match self.chance.below(4) {
                    0 => self.settle(),
                    _ => self.pass(LONG_MS),
                },
            }
            self.follow();
        }
        self.settle();
    }

    /// The first issue, so that no case is about nothing.
    fn deed(&mut self) {
        self.add_there();
    }

    /// Lets time pass without waiting for it: whatever is due later is due earlier, and the tracker's clock moves.
    fn pass(&mut self, ms: i64) {
        self.say("time passes");
        let database = self.bench.connection();
        for sql in [
            "UPDATE tracker_change SET due_at = due_at - ?1 WHERE state = 'waiting'",
            "UPDATE tracker SET held_until = held_until - ?1, held_since = held_since - ?1 WHERE held_until IS NOT NULL",
        ] {
            database.execute(sql, [ms]).unwrap();
        }
        self.there.pass(ms / 1000);
    }

    /// A round in which something goes wrong, or not.
    fn stormy_round(&mut self) {
        let mut is_slow = false;
        for _ in 0..self.chance.below(3) {
            let planned = plan(&self.there, &mut self.chance);
            is_slow |= planned.is_slow;
            self.say(format!("planned: {}", planned.words));
            self.count("a fault");
        }
        let death = match self.chance.below(5) {
            0 | 1 => Death::Unwinding,
            2 | 3 if self.has_kills && !is_slow && self.kills < 3 => Death::Kill,
            _ => Death::None,
        };
        match death {
            Death::Kill => self.killed_round(),
            Death::Unwinding => {
                let passes = self.chance.below(6);
                unwind_after(Some(passes));
                self.round(is_slow);
                unwind_after(None);
            }
            Death::None => {
                self.round(is_slow);
            }
        }
        self.there.heal();
    }

    /// Runs the real program, which kills itself at a point.
    fn killed_round(&mut self) {
        let point = POINTS[self.chance.below(POINTS.len())];
        self.kills += 1;
        self.rounds += 1;
        self.number += 1;
        let file = self
            .bench
            .project
            .beside
            .join(format!("died-{}", self.number));
        let armed = format!("{}={}", point.name(), file.display());
        let output = self
            .bench
            .project
            .command(&["tracker", "sync"])
            .env(FAILPOINTS_VARIABLE, armed)
            .output()
            .unwrap();
        let is_killed = output.status.signal() == Some(9);
        if is_killed {
            if !std::mem::replace(&mut self.was_killed, true) {
                self.count("a case with a death by kill -9");
            }
            self.count("a death by kill -9");
            std::fs::remove_file(file).unwrap();
        }
        let end = if is_killed { "dies" } else { "lives" };
        self.say(format!("the program {end} at {}", point.name()));
        let is_held = output.status.code() == Some(1);
        assert!(
            is_killed || is_held || output.status.success(),
            "{output:?}"
        );
    }

    /// Makes a round in this process; nothing if it was unwound.
    pub(super) fn round(&mut self, is_slow: bool) -> Option<SyncReport> {
        let limits = TrackerLimits {
            answer_time_max: if is_slow {
                IMPATIENT
            } else {
                TrackerLimits::default().answer_time_max
            },
            ..TrackerLimits::default()
        };
        self.rounds += 1;
        let session = &self.session;
        let made = catch_unwind(AssertUnwindSafe(|| {
            sync_within(session, None, SyncWish::default(), &limits)
        }));
        match made {
            Ok(reports) => {
                let report = reports.expect("the database is there").remove(0);
                self.say(format!("round: {}", line(&report)));
                Some(report)
            }
            Err(reason) => match reason.downcast::<Unwound>() {
                Ok(unwound) => {
                    self.count("a death by unwinding");
                    self.say(format!("round: unwound at {}", unwound.0.name()));
                    None
                }
                Err(reason) => resume_unwind(reason),
            },
        }
    }

    /// Heals the tracker, makes rounds until there is no news, and asks the oracle.
    fn settle(&mut self) {
        const ROUNDS_MAX: usize = 12;
        self.say("the tracker heals");
        self.there.heal();
        let mut quiet = 0;
        for _ in 0..ROUNDS_MAX {
            self.pass(LONG_MS);
            self.there.take_writes();
            let before = self.last_entry();
            let report = self.round(false).expect("none dies here");
            self.follow();
            assert!(report.hold.is_none(), "{report:?}");
            let writes = self.there.take_writes();
            let is_quiet = writes.is_empty() && self.last_entry() == before && self.waiting() == 0;
            quiet = if is_quiet { quiet + 1 } else { 0 };
            if quiet == 2 {
                return self.judge();
            }
            self.say(format!("writes: {writes:#?}"));
        }
        panic!("both sides answer each other for ever");
    }

    fn last_entry(&self) -> i64 {
        let sql = "SELECT coalesce(max(id), 0) FROM event";
        let database = self.bench.connection();
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    pub(super) fn waiting(&self) -> i64 {
        let sql = "SELECT count(*) FROM tracker_change WHERE state = 'waiting'";
        let database = self.bench.connection();
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn line(report: &SyncReport) -> String {
    format!(
        "took in {:?}, changed {:?}, {} comments, sent {}, refused {}, {:?}, {:?}",
        report.taken_in,
        report.changed,
        report.comments,
        report.sent,
        report.refused,
        report.problems,
        report.hold
    )
}
