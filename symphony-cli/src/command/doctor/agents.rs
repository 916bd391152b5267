//! The agents' CLIs that are found, and their versions.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::config::ProviderName;
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::{AgentCli, program_version};

use super::check::CheckView;
use super::command_provider::check_acp_programs;
use crate::agents_found::{LookedFor, look_for_agents};

/// Looks for each CLI and asks it for its version. One that is missing is no problem as long as the project's provider is
/// there, which is a check of its own.
pub(super) fn check_agents(installation: &Installation) -> Vec<CheckView> {
    let config = &installation.config.defaults;
    let path = agent_search_path(&installation.environment, &config.env);
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for LookedFor {
        clis,
        configured,
        program,
    } in look_for_agents(installation, config)
    {
        let Some(cli) = clis.first() else { continue };
        match (program, configured) {
            (Some(found), _) => checks.push(check_agent(cli, &found, &path)),
            (None, Some(program)) => {
                checks.push(missing_as_configured(cli.name, cli.program, &program));
            }
            (None, None) => missing.push(cli.program),
        }
    }
    if !missing.is_empty() {
        checks.push(CheckView::absent(
            "other agents",
            format!("not installed: {}", missing.join(", ")),
        ));
    }
    checks.extend(check_acp_programs(installation, config));
    checks
}

fn check_agent(cli: &AgentCli, found: &Path, search_path: &OsStr) -> CheckView {
    let (check, install) = (cli.program, cli.install);
    match program_version(found, search_path) {
        Ok(version) => CheckView::ok(check, format!("{} ({version})", found.display())),
        Err(error) => CheckView::warning(
            check,
            error.to_string(),
            format!(
                "`{} --version` by hand, or install it again: `{install}`",
                found.display()
            ),
        ),
    }
}

/// A program that the configuration names, and that is not there.
fn missing_as_configured(provider: ProviderName, check: &'static str, program: &Path) -> CheckView {
    let key = format!("providers.{provider}.binary");
    CheckView::warning(
        check,
        format!("`{}`, which {key} names, does not exist", program.display()),
        format!("`symphony config set {key} PATH`, or remove the key from the file"),
    )
}
