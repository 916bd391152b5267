//! The preparation itself: the same steps for every run.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Value, json};
use symphony_core::criteria::SHOWN_CRITERIA;
use symphony_core::hand_in::HEAD_AT_START;
use symphony_core::profile::{MODEL_SOURCE, PROVIDER_SOURCE};
use symphony_core::prompt_trial::PromptSet;
use symphony_core::run::INTERACTIVE;
use symphony_core::session::{RESUMED, SessionForm, SessionId};
use symphony_mcp::StoreThread;
use symphony_prompt::BuiltPrompt;
use symphony_store::{RunStart, StartSandbox};
use symphony_workspace::Failpoint;

use super::briefing::{Briefing, BriefingSources};
use super::identity::identity;
use super::invocation::invocation;
use super::model::{ChosenAgent, chosen_agent};
use super::network::plan_network;
use super::prepared::Prepared;
use super::sandbox::{agent_sandbox, judges_shell, mcp_socket, protection};
use super::session::{
    FullStart, RunSession, kept_sessions, record_of, resumption, session_of, write_files,
};
use super::site::Site;
use super::subject::Subject;
use crate::environment::{agent_environment, leave_housekeeping_to_the_user, name_committers};
use crate::error::RunnerError;
use crate::network::{HomeFile, NetworkPlan, RunNetwork, cli_with_login, kept_key, read_own};
use crate::paths::write_private;
use crate::process::Supervision;
use crate::prompts::sent::{PROMPT_REPORT, keep_prompts};
use crate::provider::{
    AgentInvocation, McpServerCommand, ProviderCall, ProviderError, Session, agent_cli,
    agent_command, interactive_mode, mcp_config, prompt_for_stdin, session_command,
};
use crate::redaction::redactor_for;
use crate::sandbox::SandboxFault;
use crate::supervise::Job;
use crate::supervise::spending::budget;

/// Prepares a run.
pub(crate) async fn prepare(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<Prepared, RunnerError> {
    // Before anything is created: a run that may not spend anything does nothing.
    let budget = budget(job, store).await?;
    let provider = job.installation.provider(&job.config)?;
    let set = prompt_set(job, store).await?;
    let library = job.installation.library_of(&job.config, set)?;
    let mut environment = environment(job, &provider);
    let protection = protection(job)?;
    if !protection.is_on() {
        refuse_root(&provider, &environment)?;
    }
    let subject = Subject::load(job, store).await?;
    let site = Site::make(job, store, supervision, &subject).await?;
    // After the site is made, and before the agent starts: exit handling compares with these records to find what the
    // agent changed and left.
    site.record_fingerprint(job)?;
    site.record_baseline(job)?;
    name_committers(&mut environment, site.path());
    let chosen = chosen_agent(job, &library);
    let model_name = chosen.model.as_ref().map(|model| model.model.as_str());
    let record = protection.record();
    let resumption = resumption(job, store, &site, &provider, model_name, record).await?;
    let kept = if protection.is_on() {
        kept_sessions(job, &provider, model_name)?
    } else {
        None
    };
    let sources = BriefingSources {
        job,
        store,
        library: &library,
        provider: provider.name(),
        site: &site,
        news: resumption.news.as_ref(),
    };
    let Briefing {
        prompts,
        review,
        criteria,
    } = Briefing::write(sources, subject).await?;
    // What the agent is sent first, and the full prompt should its session be refused.
    let (plan, built, full) = match prompts.resumed {
        // A person says what is to be done.
        _ if job.terminal.is_some() => (resumption.plan, without_task(prompts.built), None),
        Some(resumed) => (resumption.plan, resumed, Some(prompts.built)),
        None => (resumption.plan.without_prompt(), prompts.built, None),
    };
    if protection.has_own_network()
        && let Some((variable, key)) = kept_key(provider.name(), &environment)
    {
        // as if it were set: an endpoint adds it, and the agent gets no file with it
        environment.insert(variable.into(), key.into());
    }
    let network = plan_network(job, &protection, provider.name(), &environment).await?;
    let mut invocation = AgentInvocation {
        usd_max: budget,
        mcp_server: McpServerCommand {
            program: job.installation.executable.clone(),
            socket: mcp_socket(job, &protection),
        },
        session: session_of(&plan),
        is_confined: protection.is_on(),
        ..invocation(
            job,
            provider,
            &library,
            &site,
            &built,
            chosen.model.as_ref(),
        )
    };
    if let Some(network) = &network {
        // Before the project's own, which win.
        let own = std::mem::take(&mut invocation.extra_args);
        invocation.extra_args = [network.arguments.clone(), own].concat();
    }
    write_private(&job.paths.fence(), &job.run.fence.get().to_string())?;
    write_private(&job.paths.system_prompt(), &built.system)?;
    write_private(&job.paths.user_prompt(), &prompt_for_stdin(&built.user))?;
    write_private(&job.paths.mcp_config(), &mcp_config(&invocation.mcp_server))?;
    Failpoint::PreparePrompts.reach();
    let sandbox = StartSandbox {
        record,
        protection: record.protection(&job.run.agent, judges_shell(&invocation.call)),
    };
    let mut metadata = json!({
        PROVIDER_SOURCE: chosen.provider_source,
        MODEL_SOURCE: chosen.model.as_ref().map(|model| model.source),
        HEAD_AT_START: site.repository.head(&site.worktree)?.as_str(),
        RESUMED: record_of(&plan),
    });
    let sent = match job.terminal {
        None => json!({ PROMPT_REPORT: built.report, SHOWN_CRITERIA: criteria }),
        // The task was not sent. The next run finds in the report of an earlier one what the session has.
        Some(_) => json!({ INTERACTIVE: true }),
    };
    if let (Value::Object(metadata), Value::Object(sent)) = (&mut metadata, sent) {
        metadata.extend(sent);
    }
    record_start(job, store, &site, metadata, &chosen, sandbox).await?;
    Failpoint::PrepareStarted.reach();
    if job.terminal.is_none() {
        let (context, run, given) = (job.as_run(), job.run.id.clone(), prompts.learnings);
        store
            .call(move |store| store.record_given(&context, &run, &given))
            .await??;
    }
    let mode = interactive_mode(&invocation.call);
    let command = match job.terminal {
        None => agent_command(&invocation),
        Some(_) => session_command(&invocation)
            .ok_or_else(|| RunnerError::refused(NOT_INTERACTIVE.to_owned()))?,
    };
    let opened = match (&invocation.session, job.terminal.is_some()) {
        (Session::Resume(session), true) => Some(session.clone()),
        (Session::New, true) if mode.is_some_and(|mode| mode.names_sessions) => {
            SessionId::parse(job.run.id.as_str(), SessionForm::Uuid)
        }
        _ => None,
    };
    let full = full.map(|built| FullStart {
        built,
        command: agent_command(&AgentInvocation {
            session: Session::New,
            ..invocation.clone()
        }),
    });
    write_files(&command)?;
    environment.extend(
        command
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    // Everything above works in a linked worktree.
    let has_git_folder = site.give_git_folder()?;
    // The user's own checkout is refused below, with its reason.
    if protection.is_on() && !has_git_folder && site.path() != site.repository.root() {
        return Err(SandboxFault::PartialClone.into());
    }
    let head = site.repository.head(&site.worktree)?;
    // With the credentials that the agent does not get.
    let redactor = redactor_for(&site.repository, &head, &environment)?;
    let mut own = home_files(&invocation.call, network.as_ref(), &environment);
    // A login that is part of the CLI's own settings is in the home with them.
    let login = cli_with_login(invocation.call.name(), &environment)
        .filter(|cli| !cli.has_login_in_settings());
    let network = network
        .map(|plan| {
            plan.apply(&mut environment);
            RunNetwork::start(&plan, &job.paths.dir).map_err(SandboxFault::from)
        })
        .transpose()?;
    if let Some(mode) = mode.filter(|_| job.terminal.is_some()) {
        let answers = mode.home_files(&environment).into_iter();
        own.extend(answers.map(|(path, text)| HomeFile { path, text }));
    }
    let sandbox = agent_sandbox(
        job,
        protection,
        &site,
        &invocation.call,
        &command,
        &environment,
    )?
    .with_ways(network.as_ref().map(|network| network.ways().clone()))
    .with_login(login)
    .with_home_files(own)
    .with_sessions(kept);
    keep_prompts(&job.paths, &built, redactor.as_deref())?;
    Ok(Prepared {
        messages: prompts.messages,
        session: RunSession::new(plan, full),
        opened,
        command,
        environment,
        sandbox,
        network,
        identity: identity(job, &library, &site, review),
        site,
        redactor,
        searches_max: invocation.searches_max(),
    })
}

/// Returns the files of the CLI's own settings for the home of the sandbox: without keys where the network is the run's
/// own, and as they are where the CLI has to reach its models itself.
fn home_files(
    call: &ProviderCall,
    network: Option<&NetworkPlan>,
    environment: &BTreeMap<OsString, OsString>,
) -> Vec<HomeFile> {
    match network {
        Some(plan) => plan.files.clone(),
        None => read_own(call.name(), environment).map_or_else(Vec::new, |own| own.files()),
    }
}

/// What is wrong with a session in a terminal whose provider has none. It is refused before the claim as well.
const NOT_INTERACTIVE: &str = "the provider has no interactive mode that Symphony can open";

/// Returns the prompts of a session in which a person says what is to be done.
fn without_task(built: BuiltPrompt) -> BuiltPrompt {
    BuiltPrompt {
        user: String::new(),
        ..built
    }
}

/// Returns the set of prompts that a run's issue has in the configured trial, and records it before a prompt is built,
/// so that a run that fails early is part of the trial, too. Plans and the project itself are in no trial.
async fn prompt_set(job: &Job<'_>, store: &StoreThread) -> Result<Option<PromptSet>, RunnerError> {
    let Some(trial) = job.config.prompt_trial.clone() else {
        return Ok(None);
    };
    if job.run.target.issue().is_none() {
        return Ok(None);
    }
    let (context, run) = (job.as_run(), job.run.id.clone());
    let assigned = store
        .call(move |store| store.assign_prompt_set(&context, &run, &trial))
        .await??;
    Ok(Some(assigned.set))
}

fn environment(job: &Job<'_>, provider: &ProviderCall) -> BTreeMap<OsString, OsString> {
    let settings = job.config.providers.settings_of(&provider.full_name());
    let mut environment = agent_environment(
        &job.installation.environment,
        &job.config.env,
        &settings.env,
        &job.run.id,
    );
    leave_housekeeping_to_the_user(&mut environment);
    environment
}

/// A CLI may refuse to run unattended as root. This is reported before it starts, with what to do.
fn refuse_root(
    provider: &ProviderCall,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<(), RunnerError> {
    let user = rustix::process::geteuid().as_raw();
    let cli = agent_cli(provider.name());
    match cli.and_then(|cli| cli.root_hint(user, environment)) {
        Some(hint) => {
            let provider = provider.name();
            Err(ProviderError::Refuses { provider, hint }.into())
        }
        None => Ok(()),
    }
}

async fn record_start(
    job: &Job<'_>,
    store: &StoreThread,
    site: &Site,
    metadata: Value,
    chosen: &ChosenAgent,
    sandbox: StartSandbox,
) -> Result<(), RunnerError> {
    let path = site.path();
    let relative = path.strip_prefix(&job.project.root).unwrap_or(path);
    let model = chosen.model.as_ref();
    let start = RunStart {
        model: model.map(|model| model.model.as_str().to_owned()),
        worktree: Some(relative.display().to_string()),
        branch: site.branch_name(),
        sandbox: Some(sandbox),
        metadata,
    };
    let (context, run) = (job.as_run(), job.run.id.clone());
    store
        .call(move |store| store.record_start(&context, &run, &start))
        .await??;
    Ok(())
}
