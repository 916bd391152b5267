//! Whether the forge of a project can be used: its token, what this may do, and whether git reaches the remote.

use symphony_runner::forge::check_forge;
use symphony_runner::installation::Installation;
use symphony_store::Project;

use super::check::CheckView;
use crate::command::forge::Remedy;

/// Asks the forge who the token is and what it may do. Nothing where the configuration is broken, which another check reports.
pub(super) fn check_forge_of(installation: &Installation, project: &Project) -> Option<CheckView> {
    const CHECK: &str = "forge";
    let config = installation.project_config(project).ok()?;
    let settings = config.forge.clone()?;
    let answer = check_forge(installation, project, &config, &settings);
    let fix = match &answer {
        Ok(answer) => Remedy::of(answer),
        Err(_) => Remedy::Machine,
    };
    let fix = fix.advice();
    let checked = match answer {
        Ok(Ok(access)) if access.problems.is_empty() => {
            let user = access.user.map(|user| format!(" as {}", user.login));
            CheckView::ok(
                CHECK,
                format!("{}{}", access.place, user.unwrap_or_default()),
            )
        }
        Ok(Ok(access)) => CheckView::warning(CHECK, access.problem_texts().join("; "), fix),
        Ok(Err(fault)) => CheckView::warning(CHECK, fault.to_string(), fix),
        Err(error) => CheckView::failed(CHECK, &error, fix),
    };
    Some(checked)
}
