//! What a run's proxy did, for whoever looks at the run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::entry_for;
use crate::host::Target;
use crate::policy::Refusal;

/// Most hosts with a port that are counted one by one. An agent chooses the names, so the list is
/// bounded; no project needs this many.
pub const REFUSED_MAX: usize = 100;

/// What the proxy refused and carried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Refused hosts by name and port, at most [`REFUSED_MAX`].
    pub refused: Vec<Refused>,
    /// Refusals of hosts after the first [`REFUSED_MAX`].
    pub refused_others: u64,
    /// Requests that could not be read: smuggled, too long, too slow.
    pub malformed: u64,
    /// Connections turned away because too many were open.
    pub turned_away: u64,
    /// Tunnels and plain requests that reached their host.
    pub tunnels: u64,
    /// Bytes that the agent received, with heads.
    pub bytes_in: u64,
    /// Bytes that the agent sent, with heads.
    pub bytes_out: u64,
}

/// A host that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The name, or the address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How often.
    pub count: u64,
    /// Why it was refused the first time.
    pub why: Refusal,
    /// The entry that would allow it; `None` if none can.
    pub entry: Option<String>,
}

/// Counts for all connections of a run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    inner: Mutex<Counts>,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

#[derive(Debug, Default)]
struct Counts {
    refused: BTreeMap<Target, (u64, Refusal)>,
    numbers: Report,
}

impl Ledger {
    pub(crate) fn refuse(&self, target: &Target, why: &Refusal) {
        let mut counts = self.counts();
        let is_full = counts.refused.len() >= REFUSED_MAX;
        match counts.refused.get_mut(target) {
            Some((count, _)) => *count += 1,
            None if is_full => counts.numbers.refused_others += 1,
            None => {
                counts.refused.insert(target.clone(), (1, why.clone()));
            }
        }
    }

    /// Changes one of the numbers.
    pub(crate) fn count(&self, change: impl FnOnce(&mut Report)) {
        change(&mut self.counts().numbers);
    }

    /// Adds bytes that the agent received and sent.
    pub(crate) fn carry(&self, received: usize, sent: usize) {
        self.bytes_in.fetch_add(received as u64, Ordering::Relaxed);
        self.bytes_out.fetch_add(sent as u64, Ordering::Relaxed);
    }

    pub(crate) fn report(&self) -> Report {
        let counts = self.counts();
        let refused = counts.refused.iter().map(|(target, (count, why))| Refused {
            host: target.host.to_string(),
            port: target.port,
            count: *count,
            why: why.clone(),
            entry: entry_for(target, why),
        });
        Report {
            refused: refused.collect(),
            bytes_in: self.bytes_in.load(Ordering::Relaxed),
            bytes_out: self.bytes_out.load(Ordering::Relaxed),
            ..counts.numbers.clone()
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // counts are whole after each statement, also if a holder panicked
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_bounded() {
        let ledger = Ledger::default();
        for round in 0..2 {
            for number in 0..REFUSED_MAX + 50 {
                let target = Target::parse(&format!("h{number:03}.example:443")).unwrap();
                ledger.refuse(&target, &Refusal::HostNotListed);
            }
            let report = ledger.report();
            assert_eq!(report.refused.len(), REFUSED_MAX);
            assert_eq!(report.refused_others, 50 * (round + 1));
            assert!(
                report
                    .refused
                    .iter()
                    .all(|refused| refused.count == round + 1)
            );
        }
    }
}
