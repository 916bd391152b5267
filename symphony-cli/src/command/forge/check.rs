//! `symphony forge check`.

use clap::Args;
use symphony_runner::forge::{ForgeAccess, ForgeFault as Fault, ForgeProblem, check_forge};
use symphony_view::ForgeCheckView;

use super::configured::forge_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `forge check` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony forge check\n  symphony forge check --json")]
pub(crate) struct CheckArgs {}

impl CheckArgs {
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let (config, settings) = forge_of(&session)?;
        let answer = check_forge(&session.installation, &session.project, &config, &settings)
            .context("ask the forge")?;
        let hint = hint_for(&answer);
        let check = match answer {
            Ok(access) => ForgeCheckView::of(access),
            Err(fault) => ForgeCheckView::failed(fault.to_string()),
        };
        app.out.answer(&check)?;
        if !check.problems.is_empty() {
            let what = "the forge cannot be used as configured".to_owned();
            return Err(Stop::new(Exit::Failed, what).hint(hint).into());
        }
        // Whoever repaired a token and checks it waits for no quarter of an hour.
        let project = session.project.id.clone();
        session
            .store
            .lift_forge(&App::as_human(), &project)
            .context("end the hold of the forge")
    }
}

/// Returns what to do about the answer of a forge that cannot be used as configured.
pub(crate) fn hint_for(answer: &Result<ForgeAccess, Fault>) -> &'static str {
    const TOKEN: &str = "docs/forges.md says which token it needs";
    match answer {
        Err(Fault::Unreachable { .. } | Fault::Failed { .. } | Fault::Unreadable { .. }) => {
            "check that this machine can reach `forge.endpoint`, then try again"
        }
        Err(Fault::RateLimited { .. }) => "the forge asks to wait; try again later",
        Err(
            Fault::NoToken { .. }
            | Fault::Unauthorised { .. }
            | Fault::Forbidden { .. }
            | Fault::ReadOnly { .. }
            | Fault::NotFound { .. },
        ) => TOKEN,
        Ok(access) if access.problems.iter().any(is_token_s) => TOKEN,
        Ok(_)
        | Err(
            Fault::Misconfigured { .. }
            | Fault::Moved { .. }
            | Fault::Git { .. }
            | Fault::Here { .. }
            | Fault::Refused { .. },
        ) => "docs/forges.md says what Symphony needs there",
    }
}

const fn is_token_s(problem: &ForgeProblem) -> bool {
    matches!(problem, ForgeProblem::Token(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_token_s_fault_leads_to_the_page_about_tokens() {
        let detail = || "detail".to_owned();
        let access = |problem| {
            Ok(ForgeAccess {
                user: None,
                place: "acme/web".to_owned(),
                can_write: None,
                scopes: None,
                problems: vec![problem],
            })
        };
        for (answer, expected) in [
            (Err(Fault::NoToken { detail: detail() }), "which token"),
            (Err(Fault::Unauthorised { detail: detail() }), "which token"),
            (Err(Fault::NotFound { what: detail() }), "which token"),
            (
                Err(Fault::Unreachable { detail: detail() }),
                "forge.endpoint",
            ),
            (Err(Fault::RateLimited { until: None }), "later"),
            (access(ForgeProblem::Token(detail())), "which token"),
            // a name decides nothing
            (
                access(ForgeProblem::Place(
                    "the base branch `the token` does not exist".to_owned(),
                )),
                "what Symphony needs",
            ),
            (
                access(ForgeProblem::Git("the token".to_owned())),
                "what Symphony needs",
            ),
        ] {
            let hint = hint_for(&answer);
            assert!(hint.contains(expected), "{answer:?}: {hint}");
        }
    }
}
