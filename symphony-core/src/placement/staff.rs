//! The workers of a pool.

/// How many runs may wait in a pool for each of its workers, even where it has fewer slots: gates end within seconds, and no slot should
/// be idle until the next tick.
const WAITING_MAX_PER_WORKER: u32 = 16;

/// The workers of a pool that are there and take runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Staff {
    /// How many they are.
    pub workers: u32,
    /// How many runs they can have at once, all together.
    pub slots: u32,
}

impl Staff {
    /// Returns this staff and one more worker.
    #[must_use]
    pub const fn with(self, slots: u32) -> Self {
        Self {
            workers: self.workers.saturating_add(1),
            slots: self.slots.saturating_add(slots),
        }
    }

    /// Returns how many runs may wait in the pool when its workers have begun this many: as many as have a free slot, so that a large host
    /// gets all its work in one tick, and else a few, so that an urgent issue is not far from its turn: what waits in a pool is not sorted
    /// again, and takes slots of its project. Without a worker, a few wait, too, so that a new one finds work.
    pub fn waiting_max(self, begun: u32) -> u32 {
        let least = self.workers.max(1).saturating_mul(WAITING_MAX_PER_WORKER);
        self.slots.saturating_sub(begun).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_wait_as_have_a_free_slot_or_sixteen_for_each_worker() {
        let staff = |slots: &[u32]| {
            slots
                .iter()
                .fold(Staff::default(), |staff, slots| staff.with(*slots))
        };
        for (slots, begun, expected) in [
            (&[] as &[u32], 0, 16),
            (&[1], 0, 16),
            (&[16], 16, 16),
            (&[64], 0, 64),
            (&[64], 40, 24),
            (&[64], 64, 16),
            (&[64], 100, 16),
            (&[2, 2], 0, 32),
            (&[64, 2], 0, 66),
            (&[u32::MAX, 1], 0, u32::MAX),
        ] {
            let max = staff(slots).waiting_max(begun);
            assert_eq!(max, expected, "{slots:?}, {begun} begun");
        }
    }
}
