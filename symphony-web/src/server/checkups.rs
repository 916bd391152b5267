//! The last result of `doctor`, and that it runs once at a time.

use std::sync::{Arc, Mutex, PoisonError};

use symphony_core::Timestamp;

use super::failure::Failure;
use super::options::{Checkup, Doctor};

/// A result, with its time.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) at: Timestamp,
    pub(crate) found: Arc<Checkup>,
}

/// What runs `doctor`, and what it found last.
#[derive(Debug)]
pub(crate) struct Checkups {
    doctor: Doctor,
    /// Held while it runs.
    running: Mutex<()>,
    last: Mutex<Option<Kept>>,
}

impl Checkups {
    pub(super) const fn new(doctor: Doctor) -> Self {
        Self {
            doctor,
            running: Mutex::new(()),
            last: Mutex::new(None),
        }
    }

    /// Returns what was found last.
    pub(crate) fn last(&self) -> Option<Kept> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    /// Runs `doctor` and keeps what it finds. It takes a while.
    pub(crate) fn run(&self) -> Result<Kept, Failure> {
        let Ok(_alone) = self.running.try_lock() else {
            return Err(Failure::Conflict("a check is already running".to_owned()));
        };
        let found = Arc::new(self.doctor.check().map_err(Failure::Unusable)?);
        let kept = Kept {
            at: Timestamp::now(),
            found,
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(kept.clone());
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn one_check_runs_at_a_time_and_its_result_is_kept() {
        let (begun, has_begun) = channel();
        let (end, ended) = channel::<()>();
        let ended = Mutex::new(ended);
        let found = Checkup {
            checks: Vec::new(),
            findings: Vec::new(),
        };
        let answer = found.clone();
        let checkups = Arc::new(Checkups::new(Doctor::new(move || {
            begun.send(()).unwrap();
            let _ended = ended.lock().unwrap().recv();
            Ok(answer.clone())
        })));
        assert!(checkups.last().is_none());
        let first = Arc::clone(&checkups);
        let first = std::thread::spawn(move || first.run().is_ok());
        has_begun.recv().unwrap();
        assert!(matches!(checkups.run(), Err(Failure::Conflict(_))));
        end.send(()).unwrap();
        assert!(first.join().unwrap());
        assert_eq!(*checkups.last().unwrap().found, found);
    }
}
