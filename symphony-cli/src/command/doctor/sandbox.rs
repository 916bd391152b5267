//! Whether this machine can confine agents, and how strongly: tried, not guessed from versions.

use std::path::{Path, PathBuf};

use symphony_runner::process::resolve_program;
use symphony_sandbox::{
    Bubblewrap, Facts, Level, LevelSetting, Programs, Unavailable, choose, probe,
};

use super::check::CheckView;

const CHECK: &str = "sandbox";

/// What lets an ordinary user make namespaces on distributions that forbid it to most programs.
const APPARMOR: &str = "let it make namespaces: Ubuntu and others need an AppArmor profile for `/usr/bin/bwrap` that says `userns,`; \
                        elsewhere `sysctl user.max_user_namespaces` must not be 0";

/// Says which level of protection this machine could have. Runs do not use it yet.
pub(super) fn check_sandbox(search_path: Option<&std::ffi::OsStr>) -> CheckView {
    let bwrap = resolve_program(Path::new("bwrap"), search_path, Path::new("/"));
    let programs = std::env::current_exe().map(|symphony| Programs {
        symphony,
        bwrap: bwrap.unwrap_or_else(|_| PathBuf::from("bwrap")),
    });
    match programs.and_then(|programs| probe(&programs)) {
        Ok(facts) => view(&facts, rustix::process::geteuid().is_root()),
        Err(error) => CheckView::warning(
            CHECK,
            format!("this machine could not be tried: {error}"),
            "`df -h /tmp` shows whether there is space for a sandbox",
        ),
    }
}

fn view(facts: &Facts, root: bool) -> CheckView {
    match choose(LevelSetting::Auto, facts) {
        Ok(level) => {
            let root = if root {
                "\nYou are root: run agents as an ordinary user, whose files are all they could reach"
            } else {
                ""
            };
            CheckView::ok(
                CHECK,
                format!(
                    "this machine has what the level `{level}` needs: {}. Runs do not use it yet{root}",
                    has(level, facts)
                ),
            )
        }
        Err(reason) => CheckView::absent(
            CHECK,
            format!(
                "this machine cannot confine agents: {reason}\n{}",
                remedy(&reason)
            ),
        ),
    }
}

fn has(level: Level, facts: &Facts) -> String {
    let landlock = facts.landlock_abi.unwrap_or_default();
    match (&facts.bubblewrap, level) {
        (Bubblewrap::Works { version }, Level::Namespace) => {
            format!("bubblewrap {version} and Landlock {landlock}")
        }
        _ => format!("Landlock {landlock}"),
    }
}

fn remedy(reason: &Unavailable) -> &'static str {
    match reason {
        Unavailable::Neither { namespace, .. } => remedy(namespace),
        Unavailable::Bubblewrap(Bubblewrap::Missing | Bubblewrap::Old { .. }) => {
            "To have it: `apt install bubblewrap`, or the package of that name of your distribution"
        }
        Unavailable::Bubblewrap(Bubblewrap::Refused { message, .. })
            if message.contains("uid map") || message.contains("namespace") =>
        {
            APPARMOR
        }
        Unavailable::Bubblewrap(_) => "Try it: `bwrap --unshare-all --ro-bind / / true`",
        _ => "To have it: Linux 6.12 or newer, with `landlock` in `cat /sys/kernel/security/lsm`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::check::Health;

    fn facts(bubblewrap: Bubblewrap, landlock_abi: Option<u32>) -> Facts {
        Facts {
            bubblewrap,
            landlock_abi,
        }
    }

    fn version() -> String {
        "0.8.0".to_owned()
    }

    #[test]
    fn what_is_missing_is_named_once_with_what_helps() {
        let works = || Bubblewrap::Works { version: version() };
        let refused = Bubblewrap::Refused {
            version: version(),
            message: "bwrap: setting up uid map: Permission denied".to_owned(),
        };
        for (facts, status, words, help) in [
            (
                facts(works(), Some(7)),
                Health::Ok,
                "the level `namespace` needs: bubblewrap 0.8.0 and Landlock 7",
                "",
            ),
            (
                facts(Bubblewrap::Missing, Some(9)),
                Health::Ok,
                "the level `landlock` needs: Landlock 9",
                "",
            ),
            (
                facts(Bubblewrap::Missing, Some(7)),
                Health::Absent,
                "bubblewrap is not installed; without namespaces, its kernel has Landlock 7, and 9 is needed",
                "apt install bubblewrap",
            ),
            (
                facts(refused, None),
                Health::Absent,
                "(bwrap: setting up uid map: Permission denied); without namespaces, its kernel has no Landlock",
                "AppArmor",
            ),
            (
                facts(works(), None),
                Health::Absent,
                "cannot confine agents: its kernel has no Landlock\n",
                "Linux 6.12",
            ),
        ] {
            let found = view(&facts, false);
            assert_eq!(found.status, status, "{facts:?}");
            assert!(found.detail.contains(words), "{}", found.detail);
            assert!(found.detail.contains(help), "{}", found.detail);
        }
    }

    #[test]
    fn root_is_advised_to_be_another_user() {
        let works = facts(Bubblewrap::Works { version: version() }, Some(7));
        assert!(view(&works, true).detail.contains("You are root"));
        assert!(!view(&works, false).detail.contains("root"));
    }
}
