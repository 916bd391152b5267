//! Whether the agents' CLI works for the superuser, who needs to tell it that the machine is a sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;

use rustix::process::geteuid;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_runner::installation::Installation;
use symphony_runner::provider::{AgentCli, agent_cli};

use super::check::CheckView;

const CHECK: &str = "root";

/// Says what the provider's CLI makes of root; nothing for other users, and for a CLI that does not care.
pub(super) fn check_root(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Option<CheckView> {
    // In a sandbox of Symphony's, the CLI is started with its variable set.
    if config.sandbox.is_on() {
        return None;
    }
    let cli = agent_cli(provider)?;
    let variable = cli.root.as_ref()?.variable;
    let own = &config.providers.settings(provider).env;
    let configured = own.get(variable).or_else(|| config.env.get(variable));
    let value = configured
        .map(OsString::from)
        .or_else(|| installation.variable(variable).map(OsString::from));
    view(cli, variable, geteuid().as_raw(), value)
}

fn view(cli: &AgentCli, variable: &str, user: u32, value: Option<OsString>) -> Option<CheckView> {
    let environment: BTreeMap<OsString, OsString> = value
        .map(|value| (OsString::from(variable), value))
        .into_iter()
        .collect();
    if user != 0 {
        return None;
    }
    let name = cli.title;
    Some(match cli.root_hint(user, &environment) {
        None => CheckView::ok(
            CHECK,
            format!("{variable}=1 lets {name} run unattended as root"),
        ),
        Some(_) => CheckView::failed(
            CHECK,
            &format!(
                "you are root, and {name} refuses to run unattended as root, so no agent would start"
            ),
            format!(
                "run Symphony as another user; or, if this machine is a container or another sandbox, \
                 `export {variable}=1` where `symphony` runs"
            ),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::check::Health;

    #[test]
    fn only_root_outside_a_sandbox_is_refused() {
        let claude = agent_cli(ProviderName::ClaudeCli).unwrap();
        let status = |user, value: Option<&str>| {
            let value = value.map(OsString::from);
            view(claude, "IS_SANDBOX", user, value).map(|check| check.status)
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
