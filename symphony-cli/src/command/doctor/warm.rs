//! Whether gates start with kept build output, and what keeps them from it.

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::warm::ColdReason;
use symphony_runner::gates::{WarmState, warm_state};
use symphony_runner::installation::Installation;
use symphony_store::Project;
use symphony_view::text::ago;
use symphony_workspace::Repository;

use super::check::CheckView;

const CHECK: &str = "build output";

/// Says with what gates start; `None` where the configuration does not ask for kept build output.
pub(super) fn check_warm(
    installation: &Installation,
    config: &ProjectConfig,
    project: &Project,
    repository: &Repository,
) -> Option<CheckView> {
    match warm_state(installation, config, project, repository) {
        Ok(state) => view(state, Timestamp::now()),
        Err(error) => Some(CheckView::warning(
            CHECK,
            format!("cannot tell whether gates can start with build output: {error}"),
            "`symphony doctor --gates` runs the gates without it",
        )),
    }
}

fn view(state: WarmState, now: Timestamp) -> Option<CheckView> {
    let reason = match state {
        WarmState::Kept { commit, made } => {
            let commit = commit.as_str().get(..8).unwrap_or_default().to_owned();
            let detail = format!(
                "gates start with build output of {commit}, kept {}",
                ago(made, now)
            );
            return Some(CheckView::ok(CHECK, detail));
        }
        WarmState::Cold(reason) => reason,
    };
    let fix = match &reason {
        ColdReason::NotAsked => return None,
        ColdReason::NoNamespace => {
            "`symphony config set sandbox.level namespace` confines them that way"
        }
        ColdReason::Covered { .. } => "`symphony config show` lists what `sandbox` opens",
        ColdReason::Disabled => {
            "`rm -r .symphony/warm` in the project allows it again, once you know why"
        }
        _ => {
            let detail = format!("there is none until the next green pull request: {reason}");
            return Some(CheckView::absent(CHECK, detail));
        }
    };
    let detail =
        format!("gates start without build output, although `worktree.warm` is on: {reason}");
    Some(CheckView::warning(CHECK, detail, fix))
}

#[cfg(test)]
mod tests {
    use symphony_workspace::CommitId;

    use super::super::check::Health;
    use super::*;

    #[test]
    fn what_keeps_gates_from_build_output_comes_with_a_fix() {
        let cold = |reason| view(WarmState::Cold(reason), Timestamp::UNIX_EPOCH);
        assert!(cold(ColdReason::NotAsked).is_none());
        for (reason, status) in [
            (ColdReason::NoNamespace, Health::Warning),
            (ColdReason::Covered { by: "/".to_owned() }, Health::Warning),
            (ColdReason::Disabled, Health::Warning),
            (ColdReason::NoGeneration, Health::Absent),
            (ColdReason::NotMerged, Health::Absent),
        ] {
            let found = cold(reason.clone()).unwrap();
            assert_eq!(found.status, status, "{reason}");
            assert!(
                found.detail.contains(&reason.to_string()),
                "{}",
                found.detail
            );
        }
        let kept = WarmState::Kept {
            commit: CommitId::parse(&"a".repeat(40)).unwrap(),
            made: Timestamp::UNIX_EPOCH,
        };
        let hour = Timestamp::from_millisecond(3_600_000).unwrap();
        let found = view(kept, hour).unwrap();
        assert_eq!(found.status, Health::Ok);
        assert!(
            found.detail.contains("aaaaaaaa, kept 1h ago"),
            "{}",
            found.detail
        );
    }
}
