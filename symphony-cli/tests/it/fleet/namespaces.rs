//! Namespaces for a whole test: its network is one of its own, and no process of it outlives it.
//!
//! A test starts itself once more inside of them. As root of the machine it needs a network and processes of its own, otherwise a user
//! namespace, too, in which it is root.

use crate::support::programs::{is_root, program, run, succeeds};

/// Set inside of the namespaces, to the number of the user outside of them.
const INSIDE: &str = "SYMPHONY_TEST_FLEET_INSIDE";

/// Where a test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entered {
    /// Here, inside of the namespaces.
    Here,
    /// It passed inside of them: nothing is left to do.
    Passed,
    /// This machine has no namespaces for it.
    Refused,
}

/// Returns how to start a program in new namespaces, in which it is root.
fn unshare() -> Vec<&'static str> {
    let mut arguments = vec!["--pdeathsig", "KILL", "unshare"];
    if !is_root() {
        arguments.push("--map-root-user");
    }
    arguments.extend(["--net", "--mount", "--pid", "--fork"]);
    arguments.extend(["--kill-child", "--mount-proc"]);
    arguments
}

/// Runs a test of this program in namespaces of its own, unless it is there.
pub(super) fn enter(test: &str) -> Entered {
    if std::env::var_os(INSIDE).is_some() {
        run(&mut program("ip", &["link", "set", "lo", "up"]));
        return Entered::Here;
    }
    let mut probe = program("setpriv", &unshare());
    probe.args(["ip", "link", "add", "name", "probe0", "type", "veth"]);
    probe.args(["peer", "name", "probe1"]);
    if !succeeds(&mut probe) {
        println!(
            "\n!! NOT RUN: A FLEET IN NETWORK NAMESPACES. THIS MACHINE REFUSES `setpriv {}` OR HAS NO `ip`.\n",
            unshare().join(" ")
        );
        return Entered::Refused;
    }
    let own = std::env::current_exe().unwrap();
    let mut inside = program("setpriv", &unshare());
    // The first process of a namespace inherits all orphans, and bash waits for them.
    inside.args(["bash", "-c", "\"$@\"; exit $?", "bash"]);
    inside.arg(own).args([test, "--exact", "--nocapture"]);
    let user = run(&mut program("id", &["-u"]));
    let status = inside.env(INSIDE, user).status().unwrap();
    assert!(
        status.success(),
        "{test} failed in its namespaces: {status}"
    );
    Entered::Passed
}

/// Returns the number of the user that entered the namespaces.
pub(super) fn user_outside() -> String {
    std::env::var(INSIDE).expect("a fleet is in its namespaces")
}
