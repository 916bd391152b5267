//! What to type when no agent can be started.

use symphony_core::config::{AcpProblem, ProviderName};
use symphony_runner::RunnerError;
use symphony_runner::provider::ProviderError;

/// Says how a provider that cannot be used becomes usable, or another one is chosen.
pub(crate) fn provider_fix(error: &RunnerError) -> String {
    if let RunnerError::Provider(ProviderError::NoScenario) = error {
        return "`symphony config set providers.scripted.scenario FILE` sets the scenario (docs/scenarios.md)".to_owned();
    }
    if let RunnerError::Provider(ProviderError::BadScenario { .. }) = error {
        return "correct the file (docs/scenarios.md), or `symphony config set providers.scripted.scenario FILE` names another"
            .to_owned();
    }
    if let RunnerError::Provider(ProviderError::NoAcpProgram { problem, .. }) = error {
        let name = match problem {
            AcpProblem::NoCommand { name }
            | AcpProblem::Unknown {
                name,
                nearest: None,
            } => {
                format!(".{name}")
            }
            AcpProblem::Nothing => String::new(),
            _ => return "`symphony config set provider NAME` chooses one of them".to_owned(),
        };
        return format!(
            "`symphony config set providers.acp{name}.command COMMAND` sets what starts it"
        );
    }
    let names: Vec<&str> = ProviderName::ALL
        .iter()
        .copied()
        .map(ProviderName::name)
        .collect();
    format!(
        "install an agent's CLI, or choose another provider with `symphony config set provider NAME` ({}); `symphony \
         demo` works without any of them",
        names.join(", ")
    )
}
