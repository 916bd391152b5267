//! Whether this machine can confine agents, and how strongly: tried, not guessed from versions.

use std::collections::BTreeMap;
use std::path::Path;

use symphony_core::config::SandboxSettings;
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::process::{CgroupParent, resolve_program};
use symphony_runner::sandbox::asked;
use symphony_sandbox::{
    Bubblewrap, Facts, Level, LevelSetting, Programs, Unavailable, choose, probe,
};

use super::check::CheckView;

const CHECK: &str = "sandbox";

/// What lets an ordinary user make namespaces on distributions that forbid it to most programs.
const APPARMOR: &str = "let it make namespaces: Ubuntu and others need an AppArmor profile for `/usr/bin/bwrap` that says `userns,`; \
                        elsewhere `sysctl user.max_user_namespaces` must not be 0";

/// What gives a run a cgroup with limits, in a session of systemd.
const SCOPE: &str = "with systemd, start it as `systemd-run --user --scope symphony run`, whose cgroup is delegated to you";

/// Says which level of protection runs have, and whether this machine has what it needs. The machine is always tried: what
/// was found out before may no longer be so.
pub(super) fn check_sandbox(installation: &Installation, settings: &SandboxSettings) -> CheckView {
    let search_path = agent_search_path(&installation.environment, &BTreeMap::new());
    let bwrap = resolve_program(&settings.bwrap, Some(&search_path), Path::new("/"));
    let programs = Programs {
        symphony: installation.executable.clone(),
        bwrap: bwrap.unwrap_or_else(|_| settings.bwrap.clone()),
    };
    match probe(&programs) {
        Ok(facts) => {
            let unlimited = settings
                .memory_bytes
                .and_then(|_| CgroupParent::limiting().err())
                .map(|error| error.to_string());
            view(
                settings,
                &facts,
                unlimited.as_deref(),
                rustix::process::geteuid().is_root(),
            )
        }
        Err(error) => CheckView::warning(
            CHECK,
            format!("this machine could not be tried: {error}"),
            "`df -h /tmp` shows whether there is space for a sandbox",
        ),
    }
}

/// `unlimited` says why the limit of memory is not enforced.
fn view(
    settings: &SandboxSettings,
    facts: &Facts,
    unlimited: Option<&str>,
    root: bool,
) -> CheckView {
    if settings.is_on() {
        return in_use(settings, facts, unlimited, root);
    }
    match choose(LevelSetting::Auto, facts) {
        Ok(level) => CheckView::ok(
            CHECK,
            format!(
                "runs do not use it (`sandbox.level` is `off`); this machine has what the level `{level}` needs: {}{}",
                has(level, facts),
                of_root(root)
            ),
        ),
        Err(reason) => CheckView::absent(
            CHECK,
            format!(
                "this machine cannot confine agents: {reason}\n{}",
                remedy(&reason)
            ),
        ),
    }
}

/// Says whether runs can have what the configuration asks for.
fn in_use(
    settings: &SandboxSettings,
    facts: &Facts,
    unlimited: Option<&str>,
    root: bool,
) -> CheckView {
    let setting = settings.level;
    match choose(asked(setting), facts) {
        Ok(level) => {
            let network = match level {
                Level::Namespace => format!(", network `{}`", settings.network),
                Level::Landlock | Level::Off => ", the network is open".to_owned(),
            };
            let detail = format!(
                "runs have the level `{level}`: {}{network}{}{}",
                has(level, facts),
                of_memory(settings, unlimited),
                of_root(root)
            );
            match unlimited {
                None => CheckView::ok(CHECK, detail),
                Some(_) => CheckView::warning(CHECK, detail, SCOPE),
            }
        }
        Err(reason) => CheckView::failed(
            CHECK,
            &format!(
                "`sandbox.level` is `{setting}`, but this machine does not support it, so no agent starts: {reason}\n{}",
                remedy(&reason)
            ),
            "`symphony config set sandbox.level off` lets agents start without a sandbox",
        ),
    }
}

fn of_memory(settings: &SandboxSettings, unlimited: Option<&str>) -> String {
    match (settings.memory_bytes, unlimited) {
        (Some(_), None) => ", `sandbox.memory` is enforced".to_owned(),
        (Some(_), Some(reason)) => {
            format!("\n`sandbox.memory` is not enforced, so runs have no memory limit: {reason}")
        }
        (None, _) => String::new(),
    }
}

const fn of_root(root: bool) -> &'static str {
    if root {
        "\nYou are root: run agents as an ordinary user, so that they can reach that user's files at most"
    } else {
        ""
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
            "To get it: `apt install bubblewrap`, or your distribution's package of that name"
        }
        Unavailable::Bubblewrap(Bubblewrap::Refused { message, .. })
            if message.contains("uid map") || message.contains("namespace") =>
        {
            APPARMOR
        }
        Unavailable::Bubblewrap(_) => "Try it: `bwrap --unshare-all --ro-bind / / true`",
        _ => "To get it: Linux 6.12 or newer, with `landlock` in `cat /sys/kernel/security/lsm`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::check::Health;
    use symphony_core::config::SandboxSetting;

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
            let found = view(&SandboxSettings::default(), &facts, None, false);
            assert_eq!(found.status, status, "{facts:?}");
            assert!(found.detail.contains(words), "{}", found.detail);
            assert!(found.detail.contains(help), "{}", found.detail);
        }
    }

    fn with(level: SandboxSetting) -> SandboxSettings {
        SandboxSettings {
            level,
            ..SandboxSettings::default()
        }
    }

    #[test]
    fn what_runs_use_is_named_and_a_level_that_is_missing_fails() {
        let works = || Bubblewrap::Works { version: version() };
        for (level, bubblewrap, landlock, status, words) in [
            (
                SandboxSetting::Auto,
                works(),
                7,
                Health::Ok,
                "runs have the level `namespace`: bubblewrap 0.8.0 and Landlock 7, network `allowlist`",
            ),
            (
                SandboxSetting::Landlock,
                works(),
                7,
                Health::Ok,
                "runs have the level `landlock`: Landlock 7, the network is open",
            ),
            (
                SandboxSetting::Namespace,
                Bubblewrap::Missing,
                9,
                Health::Failed,
                "`sandbox.level` is `namespace`, but this machine does not support it, so no agent starts: bubblewrap is not installed",
            ),
            (
                SandboxSetting::Auto,
                Bubblewrap::Missing,
                7,
                Health::Failed,
                "bubblewrap is not installed; without namespaces, its kernel has Landlock 7, and 9 is needed",
            ),
        ] {
            let found = view(
                &with(level),
                &facts(bubblewrap, Some(landlock)),
                None,
                false,
            );
            assert_eq!(found.status, status, "{level}");
            assert!(found.detail.contains(words), "{}", found.detail);
        }
    }

    #[test]
    fn whether_the_limit_of_memory_is_enforced_is_said() {
        let works = facts(Bubblewrap::Works { version: version() }, Some(7));
        let mut settings = with(SandboxSetting::Namespace);
        let found = view(&settings, &works, None, false);
        assert!(!found.detail.contains("memory"), "{}", found.detail);
        settings.memory_bytes = Some(1 << 30);
        for (unlimited, status, words) in [
            (None, Health::Ok, "`sandbox.memory` is enforced"),
            (
                Some("none here"),
                Health::Warning,
                "`sandbox.memory` is not enforced, so runs have no memory limit: none here",
            ),
        ] {
            let found = view(&settings, &works, unlimited, false);
            assert_eq!(found.status, status);
            assert!(found.detail.contains(words), "{}", found.detail);
        }
    }

    #[test]
    fn root_is_advised_to_be_another_user() {
        let works = facts(Bubblewrap::Works { version: version() }, Some(7));
        for level in [SandboxSetting::Off, SandboxSetting::Namespace] {
            let settings = with(level);
            assert!(
                view(&settings, &works, None, true)
                    .detail
                    .contains("You are root")
            );
            assert!(!view(&settings, &works, None, false).detail.contains("root"));
        }
    }
}
