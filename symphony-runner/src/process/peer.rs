//! Who connects to a run's socket: a process below the supervisor, or a stranger.

use super::sweep::is_below_this;
use super::system;

/// The relation of a peer to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is below this process, which adopts every orphan of its run.
    Descendant,
    /// It is another process of this machine.
    Stranger,
    /// It is in its own PID namespace, or in one that cannot be seen from here. An agent in a container is not a
    /// descendant.
    Unknown,
}

/// Returns whether a peer may speak for the run that this process supervises.
///
/// A process of the same user that is not below this one is refused: it may be another agent, or belong to a run that
/// has ended. A process in another PID namespace cannot be checked, and is accepted: the mode of the socket admits only
/// this user and root.
pub(crate) fn may_speak_for_run(user: u32, pid: Option<i32>) -> bool {
    let own_user = rustix::process::geteuid().as_raw();
    is_accepted(user, own_user, pid.map_or(Standing::Unknown, standing))
}

fn is_accepted(user: u32, own_user: u32, standing: Standing) -> bool {
    let is_user = user == own_user || user == 0;
    is_user && standing != Standing::Stranger
}

fn standing(pid: i32) -> Standing {
    if is_below_this(pid).unwrap_or(false) {
        Standing::Descendant
    } else if system::is_in_inner_namespace(pid) {
        Standing::Unknown
    } else {
        Standing::Stranger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strangers_and_other_users_are_refused() {
        for (user, standing, is_heard) in [
            (1000, Standing::Descendant, true),
            (1000, Standing::Unknown, true),
            (1000, Standing::Stranger, false),
            (0, Standing::Unknown, true),
            (0, Standing::Stranger, false),
            (1001, Standing::Descendant, false),
            (1001, Standing::Unknown, false),
        ] {
            assert_eq!(
                is_accepted(user, 1000, standing),
                is_heard,
                "{user} {standing:?}"
            );
        }
    }

    #[test]
    fn a_process_above_is_no_descendant() {
        let own = system::own_pid();
        assert_eq!(standing(own), Standing::Descendant);
        let parent = system::read_record(own).unwrap().unwrap().parent;
        assert_eq!(standing(parent), Standing::Stranger);
    }
}
