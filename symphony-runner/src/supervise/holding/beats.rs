//! The thread of the beats.

use std::io;
use std::sync::PoisonError;
use std::thread;

use symphony_core::placement::BootMs;
use symphony_store::{Beat, StoreError};

use super::{Holding, LOOK};
use crate::process::boot_clock;

impl Holding {
    /// Starts the thread, which ends with the hold. A beat that never returns keeps only this thread waiting.
    pub(super) fn start_beats(
        &self,
        beat: impl FnMut() -> Result<Beat, StoreError> + Send + 'static,
    ) -> io::Result<()> {
        let holding = self.clone();
        thread::Builder::new()
            .name("beats".to_owned())
            .spawn(move || holding.beat_until_over(beat))
            .map(drop)
    }

    fn beat_until_over(&self, mut beat: impl FnMut() -> Result<Beat, StoreError>) {
        while let Some(sent) = self.next_beat() {
            match beat() {
                Ok(answer) => {
                    self.view().take_in(sent, answer);
                    if answer == Beat::Lost {
                        tracing::warn!("the run no longer belongs to this host");
                        return;
                    }
                }
                Err(error) => tracing::warn!(%error, "a beat was not answered"),
            }
        }
    }

    /// Waits until the next beat is due, and returns the clock's reading from before it is sent; `None` when the hold is over.
    fn next_beat(&self) -> Option<BootMs> {
        let mut view = self.view();
        loop {
            if view.is_over {
                return None;
            }
            let now = boot_clock();
            if view.held.is_beat_due(self.0.lease, now) {
                view.held.send(now);
                return Some(now);
            }
            let wait = view.next_in(self.0.lease, now).min(LOOK);
            view = self
                .0
                .over
                .wait_timeout(view, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Ends the beats: the supervisor is done with the run.
    pub(crate) fn end(&self) {
        self.view().is_over = true;
        self.0.over.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::{Duration, Instant};

    use symphony_core::placement::Lease;
    use symphony_core::spending::SpentSoFar;

    use super::super::view::{Release, View};
    use super::super::{Shared, first_beat};
    use super::*;

    fn live() -> Beat {
        Beat::Live {
            cancel: false,
            spent: SpentSoFar::default(),
        }
    }

    /// A hold with a beat each second, and two until the agent must end.
    fn holding() -> Holding {
        Holding(Arc::new(Shared {
            lease: Lease::new(1_000, 2_000, 22_001).unwrap(),
            view: Mutex::new(View::begun(boot_clock(), live()).unwrap()),
            over: Condvar::new(),
        }))
    }

    fn released(holding: &Holding, limit: Duration) -> Option<Release> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async { tokio::time::timeout(limit, holding.released()).await.ok() })
    }

    #[test]
    fn answered_beats_keep_the_hold_and_end_with_it() {
        let (holding, (beats, seen)) = (holding(), mpsc::channel());
        holding
            .start_beats(move || {
                beats.send(()).unwrap();
                Ok(live())
            })
            .unwrap();
        assert_eq!(released(&holding, Duration::from_millis(3_500)), None);
        holding.end();
        assert!((2..=4).contains(&seen.iter().count()));
    }

    #[test]
    fn a_beat_that_is_never_answered_ends_the_hold_in_time() {
        let (holding, (_silent, wait)) = (holding(), mpsc::channel::<()>());
        let begun = Instant::now();
        holding
            .start_beats(move || {
                let _never = wait.recv();
                Ok(live())
            })
            .unwrap();
        let release = released(&holding, Duration::from_secs(10));
        assert_eq!(release, Some(Release::Unanswered(Duration::from_secs(2))));
        assert!(begun.elapsed() < Duration::from_secs(4));
        assert_eq!(holding.release(), release);
    }

    #[test]
    fn a_run_that_was_given_up_ends_the_hold_with_the_next_beat() {
        let holding = holding();
        holding.start_beats(|| Ok(Beat::Lost)).unwrap();
        let release = released(&holding, Duration::from_secs(10));
        assert_eq!(release, Some(Release::Lost));
    }

    #[test]
    fn a_run_that_is_lost_at_the_first_beat_is_never_held() {
        assert!(first_beat(|| Ok(live())).unwrap().is_some());
        assert!(first_beat(|| Ok(Beat::Lost)).unwrap().is_none());
    }
}
