//! Whether the agents' CLI works for the superuser, who needs to tell it that the machine is a sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;

use rustix::process::geteuid;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_runner::installation::Installation;
use symphony_runner::provider::root_hint;

use super::check::CheckView;

const CHECK: &str = "root";
/// What tells the Claude CLI that root may let it work unattended.
const SANDBOX: &str = "IS_SANDBOX";

/// Says what the Claude CLI makes of root; nothing for other users and other providers.
pub(super) fn check_root(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Option<CheckView> {
    if provider != ProviderName::ClaudeCli {
        return None;
    }
    let own = &config.providers.settings(provider).env;
    let configured = own.get(SANDBOX).or_else(|| config.env.get(SANDBOX));
    let value = configured
        .map(OsString::from)
        .or_else(|| installation.variable(SANDBOX).map(OsString::from));
    view(geteuid().as_raw(), value)
}

fn view(user: u32, sandbox: Option<OsString>) -> Option<CheckView> {
    let environment: BTreeMap<OsString, OsString> = sandbox
        .map(|value| (OsString::from(SANDBOX), value))
        .into_iter()
        .collect();
    if user != 0 {
        return None;
    }
    Some(match root_hint(user, &environment) {
        None => CheckView::ok(
            CHECK,
            "IS_SANDBOX=1 lets Claude Code run unattended as root",
        ),
        Some(_) => CheckView::failed(
            CHECK,
            &"you are root, and Claude Code refuses to run unattended as root, so no agent would start",
            "run Symphony as another user; or, if this machine is a container or another sandbox, \
             `export IS_SANDBOX=1` where `symphony` runs",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::check::Health;

    #[test]
    fn only_root_outside_a_sandbox_is_refused() {
        let status = |user, value: Option<&str>| {
            view(user, value.map(OsString::from)).map(|check| check.status)
        };
        for (user, value, expected) in [
            (1000, None, None),
            (1000, Some("1"), None),
            (0, None, Some(Health::Failed)),
            (0, Some("0"), Some(Health::Failed)),
            (0, Some("1"), Some(Health::Ok)),
        ] {
            assert_eq!(status(user, value), expected, "{user} {value:?}");
        }
    }
}
