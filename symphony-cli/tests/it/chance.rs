//! Chance that can be repeated: the seed is printed, and `SYMPHONY_HARNESS_SEED` sets it.

#[cfg(feature = "harness")]
use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

/// The generator `SplitMix64`: small, and good enough to choose victims.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new() -> Self {
        let given = std::env::var("SYMPHONY_HARNESS_SEED").ok();
        let seed = given.map_or_else(
            || {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                u64::from(now.expect("the clock is set").subsec_nanos())
            },
            |text| text.parse().expect("SYMPHONY_HARNESS_SEED is a number"),
        );
        println!("SYMPHONY_HARNESS_SEED={seed}");
        Self::of(seed)
    }

    /// Begins with a seed.
    pub(crate) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below a limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).expect("it is below a usize")
    }

    /// Lets a while pass, so that the next deed falls into any moment.
    #[cfg(feature = "harness")]
    pub(crate) fn pause(&mut self, longest: Duration) {
        let milliseconds = usize::try_from(longest.as_millis()).expect("a short while");
        let pause = self.below(milliseconds + 1);
        std::thread::sleep(Duration::from_millis(pause as u64));
    }
}
