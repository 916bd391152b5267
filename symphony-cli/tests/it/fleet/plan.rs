//! What is broken, and when: a plan that a seed decides.
//!
//! Pure: the same counts, hosts and seed make the same plan. No host has two faults at once, so that each one's effect is its own.

use std::time::Duration;

use symphony_core::placement::Lease;

use super::network::Link;
use crate::chance::Chance;

/// How long a killed worker is away, at most.
const WORKER_AWAY_MAX_MS: usize = 3_000;
/// How long the database is away, at most, and a service that gives out runs.
const SERVER_AWAY_MAX_MS: usize = 2_000;

/// The links of a host that are down, by turns.
const CUTS: [&[Link]; 3] = [&[Link::Database], &[Link::Hub], &Link::ALL];

/// How often each fault comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// Issues that are there from the start.
    pub(super) issues: usize,
    pub(super) worker_kills: usize,
    pub(super) supervisor_kills: usize,
    /// Processes that are stopped past their lease, supervisors and workers by turns.
    pub(super) stops: usize,
    /// Links that are down: the database's, the hub's, and all, by turns.
    pub(super) cuts: usize,
    pub(super) control_kills: usize,
    pub(super) server_kills: usize,
    /// Kills of a service that gives out runs.
    pub(super) service_kills: usize,
    /// Kills with which it loses its state.
    pub(super) service_losses: usize,
    /// Outages of the way to it: short and long ones by turns.
    pub(super) service_cuts: usize,
}

impl Counts {
    /// What the specification asks for.
    pub(super) const WHOLE: Self = Self {
        issues: 2_000,
        worker_kills: 20,
        supervisor_kills: 20,
        stops: 10,
        cuts: 10,
        control_kills: 5,
        server_kills: 5,
        service_kills: 0,
        service_losses: 0,
        service_cuts: 0,
    };

    /// A tenth of it, and each kind at least once.
    pub(super) const TENTH: Self = Self {
        issues: 200,
        worker_kills: 2,
        supervisor_kills: 2,
        stops: 1,
        cuts: 3,
        control_kills: 1,
        server_kills: 1,
        service_kills: 0,
        service_losses: 0,
        service_cuts: 0,
    };

    /// Returns the counts that `SYMPHONY_TEST_FLEET` names: `whole`, or without it a tenth, which each change passes.
    pub(super) fn named(name: Option<&str>) -> Self {
        match name {
            Some("whole") => Self::WHOLE,
            Some(other) => panic!("SYMPHONY_TEST_FLEET is {other}; expected `whole`"),
            None => Self::TENTH,
        }
    }

    /// Adds the faults of a service that gives out runs.
    pub(super) const fn with_service(self) -> Self {
        Self {
            service_kills: self.server_kills,
            service_losses: 1,
            service_cuts: 2,
            ..self
        }
    }

    const fn faults(self) -> usize {
        self.worker_kills
            + self.supervisor_kills
            + self.stops
            + self.cuts
            + self.control_kills
            + self.server_kills
            + self.service_kills
            + self.service_losses
            + self.service_cuts
    }
}

/// Something that breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A worker is killed, and started again after a while.
    KillWorker { host: usize, away: Duration },
    /// A supervisor is killed.
    KillSupervisor { host: usize },
    /// A supervisor is stopped, and goes on when its run is long lost.
    StopSupervisor { host: usize, during: Duration },
    /// A worker is stopped, and one of its supervisors killed meanwhile.
    StopWorker { host: usize, during: Duration },
    /// Links of a host are down.
    Cut {
        host: usize,
        links: Vec<Link>,
        during: Duration,
    },
    /// A tick is killed between claim and submit.
    KillControl,
    /// PostgreSQL is killed with all its backends.
    KillServer { away: Duration },
    /// What gives out runs breaks.
    Service(ServiceFault),
}

/// Something that breaks at a service that gives out runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServiceFault {
    /// It is killed, and started again with what it had.
    Kill { away: Duration },
    /// It is killed, and started again with nothing.
    Lose { away: Duration },
    /// Neither the control nor a host reaches it.
    Cut { during: Duration },
}

impl ServiceFault {
    /// Returns how long it lasts.
    const fn during(&self) -> Duration {
        match self {
            Self::Kill { away } | Self::Lose { away } => *away,
            Self::Cut { during } => *during,
        }
    }
}

impl Fault {
    /// Returns the host that it happens to; none for control, database and service.
    pub(super) const fn host(&self) -> Option<usize> {
        match self {
            Self::KillWorker { host, .. }
            | Self::KillSupervisor { host }
            | Self::StopSupervisor { host, .. }
            | Self::StopWorker { host, .. }
            | Self::Cut { host, .. } => Some(*host),
            Self::KillControl | Self::KillServer { .. } | Self::Service(_) => None,
        }
    }

    /// Returns whether its host may be given up: killed processes alone are never a reason for that.
    pub(super) const fn may_lose_runs(&self) -> bool {
        matches!(
            self,
            Self::StopSupervisor { .. } | Self::StopWorker { .. } | Self::Cut { .. }
        )
    }

    /// Returns how long it lasts.
    pub(super) const fn during(&self) -> Duration {
        match self {
            Self::StopSupervisor { during, .. }
            | Self::StopWorker { during, .. }
            | Self::Cut { during, .. } => *during,
            Self::KillWorker { away, .. } | Self::KillServer { away } => *away,
            Self::Service(fault) => fault.during(),
            Self::KillSupervisor { .. } | Self::KillControl => Duration::ZERO,
        }
    }
}

/// A fault at its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    /// From the first fault on.
    pub(super) at: Duration,
    pub(super) fault: Fault,
}

/// A kind of fault, before a host is chosen for it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    KillWorker,
    KillSupervisor,
    Stop(usize),
    Cut(usize),
    KillControl,
    KillServer,
    KillService,
    LoseService,
    CutService(usize),
}

/// Decides what is broken, and when.
pub(super) fn plan(counts: Counts, hosts: usize, lease: Lease, seed: u64) -> Vec<Planned> {
    let mut chance = Chance::of(seed);
    let mut kinds = kinds(counts);
    let mut free_at = vec![Duration::ZERO; hosts];
    let (mut at, mut planned) = (Duration::ZERO, Vec::new());
    // long ones take a third of the hosts at most, so that the others get on
    let gap = lease_ms(lease.lost_ms()) * 3 / u32::try_from(hosts).expect("a few hosts");
    while !kinds.is_empty() {
        let kind = kinds.swap_remove(chance.below(kinds.len()));
        let wait = chance.below(usize::try_from(gap.as_millis()).expect("seconds") + 1);
        at += gap / 4 + Duration::from_millis(wait as u64) / 2;
        let first = chance.below(hosts);
        let order = (0..hosts).map(|offset| (first + offset) % hosts);
        let host = order
            .min_by_key(|host| free_at[*host].max(at))
            .expect("there are hosts");
        let fault = fault(kind, host, lease, &mut chance);
        if let Some(host) = fault.host() {
            at = at.max(free_at[host]);
            // a host recovers before the next fault
            free_at[host] = at + fault.during() + lease_ms(lease.dead_ms());
        }
        let after = match &fault {
            // No run begins meanwhile, so that the next fault would find nothing to break.
            Fault::Service(fault) => fault.during(),
            _ => Duration::ZERO,
        };
        planned.push(Planned { at, fault });
        at += after;
    }
    planned
}

fn kinds(counts: Counts) -> Vec<Kind> {
    let mut kinds = Vec::with_capacity(counts.faults());
    kinds.extend(std::iter::repeat_n(Kind::KillWorker, counts.worker_kills));
    kinds.extend(std::iter::repeat_n(
        Kind::KillSupervisor,
        counts.supervisor_kills,
    ));
    kinds.extend((0..counts.stops).map(Kind::Stop));
    kinds.extend((0..counts.cuts).map(Kind::Cut));
    kinds.extend(std::iter::repeat_n(Kind::KillControl, counts.control_kills));
    kinds.extend(std::iter::repeat_n(Kind::KillServer, counts.server_kills));
    kinds.extend(std::iter::repeat_n(Kind::KillService, counts.service_kills));
    kinds.extend(std::iter::repeat_n(
        Kind::LoseService,
        counts.service_losses,
    ));
    kinds.extend((0..counts.service_cuts).map(Kind::CutService));
    kinds
}

fn fault(kind: Kind, host: usize, lease: Lease, chance: &mut Chance) -> Fault {
    let up_to = |chance: &mut Chance, most: usize| Duration::from_millis(chance.below(most) as u64);
    // so long that the control has taken the runs back, whatever its next tick waited for
    let long = lease_ms(lease.lost_ms() + lease.beat_ms()) + up_to(chance, 3_000);
    match kind {
        Kind::KillWorker => Fault::KillWorker {
            host,
            away: up_to(chance, WORKER_AWAY_MAX_MS),
        },
        Kind::KillSupervisor => Fault::KillSupervisor { host },
        Kind::Stop(number) if number % 2 == 0 => Fault::StopSupervisor { host, during: long },
        Kind::Stop(_) => Fault::StopWorker { host, during: long },
        Kind::Cut(number) => Fault::Cut {
            host,
            links: CUTS[number % CUTS.len()].to_vec(),
            during: long,
        },
        Kind::KillControl => Fault::KillControl,
        Kind::KillServer => Fault::KillServer {
            away: up_to(chance, SERVER_AWAY_MAX_MS),
        },
        Kind::KillService => Fault::Service(ServiceFault::Kill {
            away: up_to(chance, SERVER_AWAY_MAX_MS),
        }),
        Kind::LoseService => Fault::Service(ServiceFault::Lose {
            away: up_to(chance, SERVER_AWAY_MAX_MS),
        }),
        // 30 and 120 s with the lease as it is in production
        Kind::CutService(number) => Fault::Service(ServiceFault::Cut {
            during: lease_ms([lease.dead_ms() / 3, lease.dead_ms() * 4 / 3][number % 2]),
        }),
    }
}

fn lease_ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;

    fn tenth_lease() -> Lease {
        Lease::default().shortened(NonZeroU64::new(10).unwrap())
    }

    fn count(plan: &[Planned], is_meant: impl Fn(&Fault) -> bool) -> usize {
        plan.iter()
            .filter(|planned| is_meant(&planned.fault))
            .count()
    }

    fn count_of_service(plan: &[Planned], is_meant: impl Fn(&ServiceFault) -> bool) -> usize {
        count(
            plan,
            |fault| matches!(fault, Fault::Service(fault) if is_meant(fault)),
        )
    }

    #[test]
    fn a_plan_has_each_fault_as_often_as_asked_and_depends_on_its_seed_alone() {
        for (counts, seed) in [
            (Counts::TENTH, 1),
            (Counts::WHOLE, 2),
            (Counts::WHOLE, 3),
            (Counts::TENTH.with_service(), 4),
            (Counts::WHOLE.with_service(), 5),
        ] {
            let made = plan(counts, 8, tenth_lease(), seed);
            assert_eq!(made, plan(counts, 8, tenth_lease(), seed));
            assert_ne!(made, plan(counts, 8, tenth_lease(), seed + 1));
            assert_eq!(made.len(), counts.faults());
            let found = Counts {
                issues: counts.issues,
                worker_kills: count(&made, |fault| matches!(fault, Fault::KillWorker { .. })),
                supervisor_kills: count(&made, |fault| {
                    matches!(fault, Fault::KillSupervisor { .. })
                }),
                stops: count(&made, |fault| {
                    matches!(
                        fault,
                        Fault::StopSupervisor { .. } | Fault::StopWorker { .. }
                    )
                }),
                cuts: count(&made, |fault| matches!(fault, Fault::Cut { .. })),
                control_kills: count(&made, |fault| *fault == Fault::KillControl),
                server_kills: count(&made, |fault| matches!(fault, Fault::KillServer { .. })),
                service_kills: count_of_service(&made, |fault| {
                    matches!(fault, ServiceFault::Kill { .. })
                }),
                service_losses: count_of_service(&made, |fault| {
                    matches!(fault, ServiceFault::Lose { .. })
                }),
                service_cuts: count_of_service(&made, |fault| {
                    matches!(fault, ServiceFault::Cut { .. })
                }),
            };
            assert_eq!(found, counts);
        }
    }

    #[test]
    fn every_kind_of_link_is_cut() {
        let made = plan(Counts::TENTH, 8, tenth_lease(), 5);
        for links in CUTS {
            let cut =
                |fault: &Fault| matches!(fault, Fault::Cut { links: cut, .. } if cut == links);
            assert_eq!(count(&made, cut), 1, "{links:?}");
        }
    }

    #[test]
    fn no_host_has_two_faults_at_once_and_long_ones_outlast_the_lease() {
        for seed in 0..50 {
            let made = plan(Counts::WHOLE, 8, tenth_lease(), seed);
            assert!(made.is_sorted_by_key(|planned| planned.at));
            for (number, one) in made.iter().enumerate() {
                let end = one.at + one.fault.during();
                let same = made[number + 1..]
                    .iter()
                    .filter(|other| other.fault.host().is_some())
                    .filter(|other| other.fault.host() == one.fault.host());
                for other in same {
                    assert!(other.at > end, "{one:?} {other:?}");
                }
                if matches!(one.fault, Fault::StopSupervisor { .. } | Fault::Cut { .. }) {
                    assert!(one.fault.during() > lease_ms(tenth_lease().lost_ms()));
                }
            }
        }
    }

    #[test]
    fn nothing_begins_to_break_while_no_run_is_given_out() {
        for seed in 0..50 {
            let made = plan(Counts::WHOLE.with_service(), 8, tenth_lease(), seed);
            let mut cuts = Vec::new();
            for pair in made.windows(2) {
                if let Fault::Service(fault) = &pair[0].fault {
                    assert!(pair[1].at > pair[0].at + fault.during(), "{pair:?}");
                }
            }
            for planned in &made {
                if let Fault::Service(ServiceFault::Cut { during }) = &planned.fault {
                    cuts.push(during.as_secs());
                }
            }
            cuts.sort_unstable();
            assert_eq!(cuts, [3, 12], "a tenth of 30 and 120 s");
        }
    }
}
