//! The agents' CLIs that are found, and their versions.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::config::ProviderName;
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::detect::{find_program, native_codex};
use symphony_runner::provider::program_version;

use super::check::CheckView;

/// The CLIs that Symphony knows: provider, check, program, how to install it.
const KNOWN: &[(ProviderName, &str, &str, &str)] = &[
    (
        ProviderName::ClaudeCli,
        "claude",
        "claude",
        "npm install -g @anthropic-ai/claude-code",
    ),
    (
        ProviderName::CodexCli,
        "codex",
        "codex",
        "npm install -g @openai/codex",
    ),
];

/// Looks for each CLI and asks it for its version. One that is missing is no problem as long as the project's provider is
/// there, which is a check of its own.
pub(super) fn check_agents(installation: &Installation) -> Vec<CheckView> {
    let config = &installation.config.defaults;
    let path = agent_search_path(&installation.environment, &config.env);
    KNOWN
        .iter()
        .map(|(provider, check, program, install)| {
            let configured = config.providers.settings(*provider).binary.as_deref();
            match configured {
                Some(set) if find_program(set, &path).is_none() => {
                    missing_as_configured(*provider, check, set)
                }
                _ => check_agent(
                    check,
                    configured.unwrap_or(Path::new(program)),
                    &path,
                    install,
                ),
            }
        })
        .collect()
}

/// A program that the configuration names, and that is not there.
fn missing_as_configured(provider: ProviderName, check: &'static str, program: &Path) -> CheckView {
    let key = format!("providers.{}.binary", provider.name());
    CheckView::warning(
        check,
        format!("`{}`, which {key} names, does not exist", program.display()),
        format!("`symphony config set {key} PATH`, or remove the key from the file"),
    )
}

fn check_agent(
    check: &'static str,
    program: &Path,
    search_path: &OsStr,
    install: &str,
) -> CheckView {
    let Some(found) = find_program(program, search_path) else {
        return CheckView::absent(check, format!("not installed; `{install}` installs it"));
    };
    let found = if check == "codex" {
        native_codex(&found)
    } else {
        found
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
