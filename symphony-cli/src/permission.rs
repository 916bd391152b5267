//! Which commands an agent may run, and which only a person may: one table over all commands.
//!
//! An agent that types a person's command is refused as far as protection level `none` can recognise it. Where nothing tells
//! who typed it, as with scripts and CI, the command runs, and what it does is recorded as not verified.

use std::cell::OnceCell;

use symphony_core::Timestamp;
use symphony_core::asker::{Asker, Verification};
use symphony_core::id::RunId;
use symphony_runner::environment::RUN_MARKER;
use symphony_runner::installation::Installation;
use symphony_runner::paths::RunPaths;
use symphony_runner::person::note_verification;
use symphony_runner::process::{AskerQuestions, asker};
use symphony_store::Store;
use symphony_workspace::RepositoryOptions;

use crate::failure::{Context as _, Exit, Stop};
use crate::place::Surroundings;

/// Who may run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Agents, too: it reads, checks or prints, or writes only files that an agent can write without it.
    Agents,
    /// Only a person, in whose name it is recorded; with what an agent uses instead.
    Person(Instead),
    /// The command checks itself who asks, because an agent may do a part of it.
    Own,
    /// Symphony itself starts it.
    Internal,
}

/// What an agent has in the place of a person's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instead {
    Verdicts,
    Learnings,
    Issues,
    Comments,
    Points,
    Nothing,
}

impl Instead {
    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Verdicts => Some("a judge has the tools `approve_pr` and `reject_pr`"),
            Self::Learnings => Some("an agent has the tools `add_learning` and `search_learnings`"),
            Self::Issues => Some("an agent has the tool `create_issue`"),
            Self::Comments => Some("an agent has the tool `add_comment`"),
            Self::Points => Some("an agent has the tool `answer_review_point`"),
            Self::Nothing => None,
        }
    }
}

/// Every command, by the words that name it.
#[rustfmt::skip]
const COMMANDS: &[(&str, Permission)] = {
    use Instead::{Comments, Issues, Learnings, Nothing, Points, Verdicts};
    use Permission::{Agents, Internal, Own, Person};
    &[
        ("clean", Person(Nothing)),
        ("completions", Agents),
        ("config check", Agents),
        ("config schema", Agents),
        // The commands that it configures run with the user's tokens.
        ("config set", Person(Nothing)),
        ("config show", Agents),
        ("db backup", Agents),
        ("db check", Agents),
        ("db copy", Person(Nothing)),
        ("db init", Person(Nothing)),
        ("db restore", Person(Nothing)),
        ("db vacuum", Person(Nothing)),
        ("deliver", Internal),
        // It works in a project that it makes.
        ("demo", Own),
        ("doctor", Agents),
        ("done approve", Person(Verdicts)),
        ("done reject", Person(Verdicts)),
        ("events", Agents),
        ("explain", Agents),
        // Who is an agent may read it, and dismisses nothing.
        // It uses the user's token.
        ("forge check", Person(Nothing)),
        ("forge status", Agents),
        ("forge sync", Person(Nothing)),
        ("inbox", Own),
        ("init", Person(Nothing)),
        ("issue add", Person(Issues)),
        ("issue close", Person(Nothing)),
        ("issue comment", Person(Comments)),
        ("issue delete", Person(Nothing)),
        ("issue edit", Person(Nothing)),
        ("issue export", Agents),
        ("issue history", Agents),
        ("issue import", Person(Issues)),
        ("issue list", Agents),
        ("issue move", Person(Nothing)),
        ("issue release", Person(Nothing)),
        ("issue retry", Person(Nothing)),
        ("issue show", Agents),
        ("learnings accept", Person(Learnings)),
        ("learnings add", Person(Learnings)),
        ("learnings edit", Person(Learnings)),
        ("learnings export", Agents),
        ("learnings import", Person(Learnings)),
        ("learnings list", Agents),
        ("learnings rank", Agents),
        ("learnings restore", Person(Learnings)),
        ("learnings retire", Person(Learnings)),
        ("learnings search", Agents),
        ("learnings show", Agents),
        ("learnings stats", Agents),
        ("man", Agents),
        // It serves agents; who is an agent gives no verdict there.
        ("mcp", Own),
        ("pause", Person(Nothing)),
        ("phase approve", Person(Verdicts)),
        ("phase check", Agents),
        ("phase list", Agents),
        ("phase reject", Person(Verdicts)),
        ("phase show", Agents),
        ("plan abort", Person(Nothing)),
        ("plan check", Agents),
        ("plan classify-error", Agents),
        ("plan decide", Person(Nothing)),
        ("plan find", Agents),
        ("plan graph", Agents),
        // Commands on state files serve skills, whose sessions are not Symphony's.
        ("plan init-state", Agents),
        ("plan list", Agents),
        ("plan mark-complete", Agents),
        ("plan mark-failed", Agents),
        ("plan parse", Agents),
        ("plan pause", Person(Nothing)),
        ("plan prompt", Agents),
        ("plan ready", Agents),
        ("plan renew", Agents),
        ("plan resolve", Agents),
        ("plan resume", Person(Nothing)),
        ("plan retry", Person(Nothing)),
        ("plan retry-phase", Agents),
        ("plan run", Person(Nothing)),
        ("plan skip", Person(Nothing)),
        ("plan status", Agents),
        ("plan statusline", Agents),
        ("plan summary", Agents),
        ("point add", Person(Verdicts)),
        ("point close", Person(Verdicts)),
        ("point list", Agents),
        ("point reopen", Person(Verdicts)),
        ("point reply", Person(Points)),
        ("pr approve", Person(Verdicts)),
        ("pr check", Person(Nothing)),
        ("pr close", Person(Verdicts)),
        ("pr diff", Agents),
        ("pr list", Agents),
        ("pr merge", Person(Verdicts)),
        ("pr publish", Person(Nothing)),
        ("pr reject", Person(Verdicts)),
        ("pr show", Agents),
        ("profile list", Agents),
        ("profile set", Person(Nothing)),
        ("profile show", Agents),
        ("project add", Person(Nothing)),
        ("project list", Agents),
        ("project move", Person(Nothing)),
        ("project remove", Person(Nothing)),
        ("project rename-prefix", Person(Nothing)),
        ("project show", Agents),
        ("project wizard", Person(Nothing)),
        ("prompt build", Agents),
        ("prompt lint", Agents),
        ("prompt record", Agents),
        ("prompt schema", Agents),
        ("prompt show", Agents),
        // It starts agents, and pays them.
        ("prompt trial", Person(Nothing)),
        ("prompt worker", Agents),
        ("resume", Person(Nothing)),
        // What an agent starts ends with its run: supervisors that it started would, too.
        ("run", Person(Nothing)),
        ("runs cancel", Person(Nothing)),
        ("runs list", Agents),
        ("runs logs", Agents),
        // An agent would speak to itself in a person's name.
        ("runs open", Person(Nothing)),
        ("runs prompt", Agents),
        ("runs say", Person(Comments)),
        ("runs show", Agents),
        ("runs withdraw", Person(Comments)),
        // Its links sign a browser in as whoever typed them.
        ("serve", Person(Nothing)),
        ("serve url", Person(Nothing)),
        ("serve user add", Person(Nothing)),
        ("serve user list", Agents),
        ("serve user remove", Person(Nothing)),
        ("service-worker", Internal),
        ("spending", Agents),
        ("status", Agents),
        ("supervise", Internal),
        ("tick", Person(Nothing)),
        // They use the user's token.
        ("tracker check", Person(Nothing)),
        ("tracker status", Agents),
        ("tracker sync", Person(Nothing)),
        // It starts agents.
        ("worker", Person(Nothing)),
    ]
};

/// Returns who may run a command; a command that is not in the table is a person's.
fn permission_of(command: &str) -> Permission {
    let found = COMMANDS.binary_search_by(|(name, _)| (*name).cmp(command));
    found
        .ok()
        .and_then(|at| COMMANDS.get(at))
        .map_or(Permission::Person(Instead::Nothing), |(_, who)| *who)
}

/// Says whether a person's command may change what happens to a pull request, its issue or its plan. `pr merge` settles the merge
/// that it goes on with itself.
pub(crate) fn changes_reviews(command: &str) -> bool {
    let group = command.split(' ').next().unwrap_or_default();
    let is_persons = matches!(permission_of(command), Permission::Person(_));
    is_persons
        && command != "pr merge"
        && (matches!(group, "issue" | "plan" | "pr") || command == "config set")
}

/// As what a command was let run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// As a person's.
    Person,
    /// As a command that agents may run, or that checks itself who asks.
    Anyone,
}

/// Lets a command run, or refuses it to an agent; notes whether a person was seen to type it.
///
/// # Errors
/// When an agent asks for what only a person may do.
pub(crate) fn admit(surroundings: &Surroundings, command: &str) -> anyhow::Result<Admission> {
    let Permission::Person(instead) = permission_of(command) else {
        return Ok(Admission::Anyone);
    };
    let Asker::Agent(why) = identify_asker(surroundings)? else {
        return Ok(Admission::Person);
    };
    let message =
        format!("only a person may run `symphony {command}`, and this looks like an agent: {why}");
    // What an agent could do to look like a person is not in a text that agents read.
    let way = "a person has to run the command, in a terminal that no agent started".to_owned();
    let hint = match instead.hint() {
        Some(tool) => format!("{tool}; {way}"),
        None => way,
    };
    Err(Stop::new(Exit::Refused, message).hint(hint).into())
}

/// Judges who started this process, and notes it for what is recorded in a person's name.
///
/// # Errors
/// When the table of processes cannot be read.
pub(crate) fn identify_asker(surroundings: &Surroundings) -> anyhow::Result<Asker> {
    let asker = match surroundings.variable(RUN_MARKER) {
        Some(run) => Asker::Agent(format!(
            "it was started inside run {}",
            run.to_string_lossy()
        )),
        None => judge_processes(surroundings).context("find out who started this command")?,
    };
    note_verification(match &asker {
        Asker::Person => Verification::Verified,
        Asker::Agent(why) | Asker::Unverified(why) => Verification::Unverified(why.clone()),
    });
    Ok(asker)
}

fn judge_processes(surroundings: &Surroundings) -> anyhow::Result<Asker> {
    let root = surroundings.root().ok();
    // Opened when some process looks like an agent's, or the terminal is in doubt.
    let opened: OnceCell<Option<(Installation, Store)>> = OnceCell::new();
    let store = || {
        let opened = opened.get_or_init(|| surroundings.existing().ok());
        opened.as_ref().map(|(_, store)| store)
    };
    let is_known = |run: &RunId| {
        let is_of_project = || {
            root.as_ref()
                .is_some_and(|root| RunPaths::new(root, run).dir.is_dir())
        };
        // An agent of another project of the same database.
        let is_of_database = || store().is_some_and(|store| store.run(run).is_ok());
        is_of_project() || is_of_database()
    };
    let at_work = |moment: Timestamp| store()?.run_at_work(moment).ok().flatten();
    let workspaces = root
        .as_ref()
        .map(|root| root.join(RepositoryOptions::default().workspaces_dir));
    let asker = asker(&AskerQuestions {
        workspaces: workspaces.as_deref(),
        is_known,
        at_work,
    })?;
    if let Some(opened) = opened.into_inner().flatten() {
        surroundings.leave(opened);
    }
    Ok(asker)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::root::tree;

    fn leaves(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        let mut below = command.get_subcommands().peekable();
        if below.peek().is_none() || !(path.is_empty() || command.is_subcommand_required_set()) {
            found.insert(path.to_owned());
        }
        for one in below {
            leaves(one, format!("{path} {}", one.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_command_says_who_may_run_it() {
        let mut tree = tree();
        tree.build();
        let mut found = BTreeSet::new();
        leaves(&tree, "", &mut found);
        let listed: BTreeSet<String> = COMMANDS
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        assert_eq!(listed, found);
        assert!(
            COMMANDS.is_sorted_by(|one, next| one.0 < next.0),
            "the table is sorted, each command is in it once"
        );
    }

    #[test]
    fn what_a_person_does_to_reviews_is_told_from_what_is_only_read() {
        for (command, expected) in [
            ("pr reject", true),
            ("plan abort", true),
            ("issue close", true),
            ("config set", true),
            ("pr merge", false),
            ("pr show", false),
            ("plan status", false),
            ("tick", false),
        ] {
            assert_eq!(changes_reviews(command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_not_listed_is_a_persons() {
        assert_eq!(
            permission_of("no such command"),
            Permission::Person(Instead::Nothing)
        );
        assert_eq!(permission_of("events"), Permission::Agents);
    }
}
