//! The agents' CLIs that are found, and their versions.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::config::ProviderName;
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::{AgentCli, agent_clis, program_version};

use super::check::CheckView;

/// Looks for each CLI and asks it for its version. One that is missing is no problem as long as the project's provider is
/// there, which is a check of its own.
pub(super) fn check_agents(installation: &Installation) -> Vec<CheckView> {
    let config = &installation.config.defaults;
    let path = agent_search_path(&installation.environment, &config.env);
    // Some CLIs can be talked to in more than one way: each is a provider, and the program is the same.
    let mut looked_for: Vec<(&str, Option<&Path>)> = Vec::new();
    let mut checks = Vec::new();
    for cli in agent_clis() {
        let configured = config.providers.settings(cli.name).binary.as_deref();
        let program = (cli.program, configured);
        if !looked_for.contains(&program) {
            looked_for.push(program);
            checks.push(check_agent(cli, configured, &path));
        }
    }
    checks
}

fn check_agent(cli: &AgentCli, configured: Option<&Path>, search_path: &OsStr) -> CheckView {
    let (check, install) = (cli.program, cli.install);
    let Some(found) = cli.find(configured, search_path) else {
        return configured.map_or_else(
            || CheckView::absent(check, format!("not installed; `{install}` installs it")),
            |program| missing_as_configured(cli.name, check, program),
        );
    };
    match program_version(&found, search_path) {
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
