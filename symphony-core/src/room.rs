//! Fills a cap with whole entries: what does not fit is skipped, and the next entry tried.
//!
//! The one rule for learnings, wherever they are capped: conventions by characters where they are ranked, tactical ones
//! by tokens where the prompt is built.

/// What is left of a cap, in whatever unit the caller counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    left: u64,
}

impl Room {
    /// Starts with a whole cap.
    pub const fn new(cap: u64) -> Self {
        Self { left: cap }
    }

    /// Returns what is left.
    pub const fn left(self) -> u64 {
        self.left
    }

    /// Returns whether an entry of this size would fit.
    pub const fn fits(self, size: u64) -> bool {
        size <= self.left
    }

    /// Takes the room of an entry when it fits as a whole, and returns whether it did. An entry that does not fit uses
    /// nothing, so that a later, shorter one may.
    #[must_use]
    pub const fn take(&mut self, size: u64) -> bool {
        let fits = self.fits(size);
        if fits {
            self.left -= size;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_does_not_fit_uses_no_room_and_the_next_one_is_tried() {
        for (cap, sizes, taken) in [
            (10, vec![4, 7, 6, 1], vec![true, false, true, false]),
            (10, vec![11, 10, 0], vec![false, true, true]),
            (0, vec![1, 0], vec![false, true]),
            (u64::MAX, vec![u64::MAX, 1], vec![true, false]),
        ] {
            let mut room = Room::new(cap);
            let found: Vec<bool> = sizes.iter().map(|size| room.take(*size)).collect();
            assert_eq!(found, taken, "{cap} {sizes:?}");
        }
    }
}
