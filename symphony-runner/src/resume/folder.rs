//! The files of sessions of confined agents: one folder for each key, which is mounted for that key only.
//!
//! Symphony makes and removes these folders, and never reads what an agent wrote there. An agent without a sandbox keeps
//! its sessions where its CLI does for its user.

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use symphony_core::id::IssueId;
use symphony_core::run::RunTarget;
use symphony_core::session::SessionKey;

use crate::paths::STATE_DIR;
use crate::provider::AgentCli;

/// Hexadecimal digits of a key's digest: enough for the few keys of an issue.
const DIGEST_DIGITS: usize = 16;

/// The folder of the sessions on issues.
pub(super) fn issues_folder(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join("sessions").join("issue")
}

/// The folder of the sessions on plans.
pub(super) fn plans_folder(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join("sessions").join("plan")
}

/// The folder of the sessions on an issue.
pub(super) fn issue_folder(project_root: &Path, issue: &IssueId) -> PathBuf {
    issues_folder(project_root).join(issue.as_str())
}

/// Makes the folder of a key, and returns it; `None` for a run that no other one continues.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn kept_folder(
    project_root: &Path,
    target: &RunTarget,
    key: &SessionKey,
) -> io::Result<Option<PathBuf>> {
    let subject = match (target.issue(), target.plan()) {
        (Some(issue), _) => issue_folder(project_root, issue),
        (None, Some(plan)) => plans_folder(project_root).join(plan.as_str()),
        (None, None) => return Ok(None),
    };
    let folder = subject.join(name(target, key));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    Ok(Some(folder))
}

/// The name of a key's folder: the agent, for people who look, and a digest of the whole key.
fn name(target: &RunTarget, key: &SessionKey) -> String {
    let phase = match target {
        RunTarget::PlanPhase(_, phase) => phase.as_str(),
        _ => "",
    };
    let mut digest = Sha256::new();
    for part in key.parts().into_iter().chain([phase]) {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    let mut name = format!("{}-", key.agent);
    for byte in digest.finalize().iter().take(DIGEST_DIGITS / 2) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// Leads the folder of a CLI's sessions in an empty home to the kept one, which the sandbox has at the same path.
///
/// # Errors
/// When the link cannot be made.
pub(crate) fn link_into(home: &Path, cli: &AgentCli, kept: &Path) -> io::Result<()> {
    let Some(name) = cli.sessions.and_then(|sessions| sessions.folder) else {
        return Ok(());
    };
    let own = home.join(cli.credentials.folder);
    DirBuilder::new().recursive(true).mode(0o700).create(&own)?;
    symlink(kept, own.join(name))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use symphony_core::agent::AgentType;
    use symphony_core::config::ProviderName;
    use symphony_core::id::{PlanId, PlanPhaseId, PrId};

    use super::*;
    use crate::provider::agent_cli;

    fn key(
        target: &RunTarget,
        agent: &AgentType,
        provider: ProviderName,
        model: Option<&str>,
    ) -> SessionKey {
        let provider = provider.name().to_owned();
        SessionKey::new(
            target,
            agent.clone(),
            None,
            provider,
            model.map(str::to_owned),
        )
    }

    #[test]
    fn each_key_has_a_private_folder_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let issue = IssueId::parse("SYM-1").unwrap();
        let plan = PlanId::parse("p1").unwrap();
        let phase = |id: &str| PlanPhaseId::parse(id).unwrap();
        let review = RunTarget::PullRequest(issue.clone().into(), PrId::new(1));
        let targets = [
            RunTarget::Issue(issue.clone()),
            review,
            RunTarget::PlanPhase(plan.clone(), phase("a")),
            RunTarget::PlanPhase(plan, phase("b")),
        ];
        let mut folders = Vec::new();
        for target in &targets {
            for agent in [AgentType::Worker, AgentType::Judge] {
                for (provider, model) in [
                    (ProviderName::ClaudeCli, None),
                    (ProviderName::ClaudeCli, Some("opus")),
                    (ProviderName::CodexCli, None),
                ] {
                    let key = key(target, &agent, provider, model);
                    let made = || kept_folder(root.path(), target, &key).unwrap().unwrap();
                    let folder = made();
                    assert_eq!(folder, made(), "the same key leads to it again");
                    let mode = fs::metadata(&folder).unwrap().permissions().mode();
                    assert_eq!(mode & 0o777, 0o700);
                    assert!(!folders.contains(&folder), "{folder:?}");
                    folders.push(folder);
                }
            }
        }
        let (provider, agent) = (ProviderName::ClaudeCli, AgentType::Scanner);
        let key = key(&RunTarget::Project, &agent, provider, None);
        let none = kept_folder(root.path(), &RunTarget::Project, &key).unwrap();
        assert_eq!(none, None);
    }

    #[test]
    fn the_home_of_a_start_leads_to_the_kept_files() {
        let root = tempfile::tempdir().unwrap();
        let (home, kept) = (root.path().join("home"), root.path().join("kept"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&kept).unwrap();
        let cli = agent_cli(ProviderName::CodexCli).unwrap();
        link_into(&home, cli, &kept).unwrap();
        fs::write(home.join(".codex/sessions/a.jsonl"), "{}").unwrap();
        assert!(kept.join("a.jsonl").is_file());
    }
}
