//! No run has two agents, whatever is delayed, lost, stopped or asleep, as long as clocks keep to their bounds.

use proptest::prelude::*;
use symphony_core::placement::{
    BootMs, CLOCK_PPM_MAX, END_MS_MAX, Held, LEASE_MS_MAX, Lease, Liveness, MARGIN_MS,
};

/// What happens next to a run on its host, which looks only when it is awake.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// Nothing: the host is busy, stopped or asleep for this many milliseconds of real time.
    Wait(u64),
    /// It looks, and sends a beat if one is due. The beat reaches the database, and its answer the host, after so long, or never.
    Look(Option<u64>, Option<u64>),
    /// It beats again although none is due, as a repeated write does.
    Repeat(Option<u64>, Option<u64>),
}

/// A clock that is off by some millionths, and began at some reading.
#[derive(Debug, Clone, Copy)]
struct Clock {
    ppm: i64,
    start: u64,
}

impl Clock {
    fn at(self, real_ms: u64) -> u64 {
        let real = i128::from(real_ms);
        let drift = real * i128::from(self.ppm) / 1_000_000;
        self.start + u64::try_from(real + drift).unwrap()
    }
}

fn clock() -> impl Strategy<Value = Clock> {
    let most = i64::try_from(CLOCK_PPM_MAX).unwrap();
    // the ends are what the margin is for
    let ppm = prop_oneof![Just(-most), Just(most), -most..=most];
    (ppm, 0..1_000_000_000_u64).prop_map(|(ppm, start)| Clock { ppm, start })
}

fn lease() -> impl Strategy<Value = Lease> {
    let tightest = |beat: u64, fence: u64| Lease::new(beat, fence, fence + MARGIN_MS + 1);
    prop_oneof![
        Just(Lease::default()),
        (1_000..60_000_u64, 1_000..LEASE_MS_MAX - MARGIN_MS - 60_000)
            .prop_map(move |(beat, more)| tightest(beat, beat + more).unwrap()),
    ]
}

fn delay() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        3 => (0..500_u64).prop_map(Some),
        1 => (0..200_000_u64).prop_map(Some),
        1 => Just(None)
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (1..25_000_u64).prop_map(Deed::Wait),
        1 => (1..400_000_u64).prop_map(Deed::Wait),
        3 => (delay(), delay()).prop_map(|(there, back)| Deed::Look(there, back)),
        1 => (delay(), delay()).prop_map(|(there, back)| Deed::Repeat(there, back)),
    ]
}

/// A beat on its way: when it was sent by the host's clock, and when it reaches the database and the host in real time.
#[derive(Debug, Clone, Copy)]
struct Beat {
    sent: BootMs,
    arrives: Option<u64>,
    returns: Option<u64>,
}

/// A run on a host, and what the database has of it.
#[derive(Debug)]
struct World {
    lease: Lease,
    host: Clock,
    database: Clock,
    now: u64,
    held: Held,
    beat_at: u64,
    /// When the control ended the run.
    ended: Option<u64>,
    on_the_way: Vec<Beat>,
    /// The last moment at which the host let its agent run.
    believed: u64,
}

impl World {
    fn begin(lease: Lease, host: Clock, database: Clock) -> Self {
        Self {
            lease,
            host,
            database,
            now: 0,
            held: Held::begun(BootMs::new(host.at(0))),
            beat_at: database.at(0),
            ended: None,
            on_the_way: Vec::new(),
            believed: 0,
        }
    }

    fn boot(&self) -> BootMs {
        BootMs::new(self.host.at(self.now))
    }

    /// Delivers what has arrived by now, in an order that no one chose.
    fn deliver(&mut self) {
        let now = self.now;
        for beat in &mut self.on_the_way {
            if beat.arrives == Some(now) {
                if self.ended.is_some() {
                    // the run is over: the answer says so, and extends nothing
                    beat.returns = None;
                } else {
                    self.beat_at = self.beat_at.max(self.database.at(now));
                }
            }
        }
        let back = self
            .on_the_way
            .iter()
            .filter(|beat| beat.returns == Some(now));
        for sent in back.map(|beat| beat.sent).collect::<Vec<_>>() {
            self.held.answer(sent);
        }
    }

    fn send(&mut self, there: Option<u64>, back: Option<u64>) {
        let sent = self.boot();
        self.held.send(sent);
        let arrives = there.map(|ms| self.now + ms);
        self.on_the_way.push(Beat {
            sent,
            arrives,
            returns: arrives.zip(back).map(|(at, ms)| at + ms),
        });
        self.deliver();
    }

    /// Lets time pass until nothing more arrives before a moment: the control ends the run in the first millisecond in which it is
    /// silent, in the same transaction; and the host would let its agent run until its lease is over, whether or not it looks.
    fn pass(&mut self, until: u64) {
        let (lease, host, database, beat_at) = (self.lease, self.host, self.database, self.beat_at);
        let is_silent = |real| {
            let age = i64::try_from(database.at(real) - beat_at).unwrap();
            lease.liveness(age) != Liveness::Alive
        };
        if self.ended.is_none() {
            self.ended = first(self.now, until, is_silent);
        }
        let held = self.held;
        let is_over = |real| held.must_end(lease, BootMs::new(host.at(real)));
        match first(self.now, until, is_over) {
            Some(over) if over > self.now => self.believed = over - 1,
            Some(_) => {}
            None => self.believed = until - 1,
        }
        self.now = until;
    }

    fn wait(&mut self, ms: u64) {
        let until = self.now + ms;
        while self.now < until {
            let of_beats = self.on_the_way.iter();
            let next = of_beats
                .flat_map(|beat| [beat.arrives, beat.returns])
                .flatten()
                .filter(|at| *at > self.now)
                .min();
            self.pass(next.map_or(until, |next| next.min(until)));
            self.deliver();
        }
    }

    fn act(&mut self, deed: Deed) {
        match deed {
            Deed::Wait(ms) => self.wait(ms),
            Deed::Look(there, back) => {
                let now = self.boot();
                let lives = !self.held.must_end(self.lease, now);
                if lives && self.held.is_beat_due(self.lease, now) {
                    self.send(there, back);
                }
            }
            Deed::Repeat(there, back) => self.send(there, back),
        }
    }
}

/// Returns the first moment in a range from which something is true.
fn first(from: u64, until: u64, is_true: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (from, until);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_true(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low < until).then_some(low)
}

proptest! {
    #[test]
    fn an_agent_has_ended_before_its_run_is_given_up(
        lease in lease(), host in clock(), database in clock(),
        deeds in prop::collection::vec(deed(), 1..60),
    ) {
        let mut world = World::begin(lease, host, database);
        for deed in deeds {
            world.act(deed);
        }
        // long enough for every answer and for the silence of the longest lease
        world.wait(500_000);
        world.wait(LEASE_MS_MAX + LEASE_MS_MAX / 100);
        let ended = world.ended.expect("a run without beats is given up");
        prop_assert!(
            world.believed + END_MS_MAX <= ended,
            "its host let it run at {}, and it was given up at {ended}", world.believed
        );
    }

    #[test]
    fn a_run_whose_beats_are_answered_at_once_is_never_given_up(
        lease in lease(), host in clock(), database in clock(), beats in 1..200_u64,
    ) {
        let mut world = World::begin(lease, host, database);
        for _ in 0..beats {
            // a slow clock needs a little longer
            let left = world.held.next_in_ms(lease, world.boot());
            world.wait(left + left / 1_000 + 1);
            prop_assert!(!world.held.must_end(lease, world.boot()));
            world.act(Deed::Look(Some(0), Some(0)));
        }
        prop_assert_eq!(world.ended, None);
    }
}

/// The margin is not there for nothing: without it, and with the fastest and the slowest clock, a run would have two agents.
#[test]
fn without_the_margin_a_run_could_have_two_agents() {
    let most = i64::try_from(CLOCK_PPM_MAX).unwrap();
    let slow = Clock {
        ppm: -most,
        start: 0,
    };
    let fast = Clock {
        ppm: most,
        start: 0,
    };
    let lease = Lease::default();
    let held = Held::begun(BootMs::new(0));
    // what the database would see if `dead` were `fence`
    let real = (0..200_000).find(|ms| fast.at(*ms) >= lease.fence_ms());
    assert!(!held.must_end(lease, BootMs::new(slow.at(real.unwrap()))));
    assert!(Lease::new(lease.beat_ms(), lease.fence_ms(), lease.fence_ms()).is_err());
}
