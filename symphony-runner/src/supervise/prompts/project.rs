//! The prompts of the agents that work on a project itself: background dispatch (path C) and setup wizard (path D).

use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_core::run::RunTarget;
use symphony_core::web::WebAccess;
use symphony_learning::{Options, Subject};
use symphony_prompt::{
    BackgroundDispatch, ExternalResearch, ProjectContext, WizardDispatch, Workspace,
    WorkspaceProject,
};
use symphony_store::{Project, Store};
use symphony_workspace::detect_project;
use symphony_workspace::proposal::Proposal;

use super::dispatch::Prompts;
use super::knowledge::{budgets, fence_marker, gate_commands, project_findings, standing, texts};
use super::omissions::log_omissions;
use super::vault::load_vault;
use crate::error::RunnerError;
use crate::prompts::library::PromptLibrary;
use crate::provider::reads_claude_md;
use crate::repository::open_repository;

/// How many entries of the root the wizard gets: enough to see what kind of project it is.
const ENTRIES_MAX: usize = 100;

/// What the prompts of a project's own agent need besides the store.
#[derive(Debug)]
pub(crate) struct ProjectRequest {
    /// The agent that will read them.
    pub(crate) agent: AgentType,
    /// The project.
    pub(crate) project: Project,
    /// The name of the temporary worktree.
    pub(crate) identifier: String,
    /// The agent's working directory.
    pub(crate) path: PathBuf,
    /// Where the project's files are read: its working directory, or a folder with the same files.
    pub(crate) read_from: PathBuf,
    /// CLAUDE.md, as the agent gets it.
    pub(crate) claude_md: Option<String>,
    /// WORKFLOW.md of the project's root.
    pub(crate) workflow_md: Option<String>,
    /// The instructions of its override.
    pub(crate) custom_instructions: Option<String>,
    /// Whose CLI it is.
    pub(crate) provider: ProviderName,
    /// Profiles and instructions.
    pub(crate) library: PromptLibrary,
    /// The project's configuration.
    pub(crate) config: ProjectConfig,
}

impl ProjectRequest {
    fn workspace(&self) -> Workspace {
        Workspace {
            identifier: self.identifier.clone(),
            path: self.path.display().to_string(),
            branch: None,
            base: None,
        }
    }
}

/// Assembles both prompts of a scanner or a background researcher.
pub(crate) fn build_background(
    request: &ProjectRequest,
    store: &mut Store,
) -> Result<Prompts, RunnerError> {
    let (agent, library) = (&request.agent, &request.library);
    let instruction = match agent {
        AgentType::Scanner => &library.standalone.background_scan,
        _ => &library.standalone.background_research,
    };
    let mut dispatch =
        BackgroundDispatch::new(agent.clone(), request.workspace(), instruction.as_str());
    dispatch.profile = library
        .profile(agent)
        .map(|profile| profile.body.clone())
        .unwrap_or_default();
    dispatch.workflow_md.clone_from(&request.workflow_md);
    dispatch.external_research = external_research(WebAccess::decide(
        agent,
        &RunTarget::Project,
        None,
        request.config.external_research,
    ));
    // There is nothing to compare with, so this is what is known about the project as a whole.
    let best = store.best_learnings(
        &request.project.id,
        None,
        &Subject::query(""),
        Timestamp::now(),
        Options::default(),
    )?;
    dispatch.convention_learnings = texts(&best.conventions);
    dispatch.learnings = texts(&best.tactical);
    dispatch.findings = project_findings(&request.project.id, store)?;
    dispatch.fence_marker = fence_marker();
    dispatch.claude_md.clone_from(&request.claude_md);
    dispatch.provider_reads_claude_md = reads_claude_md(request.provider);
    dispatch
        .custom_instructions
        .clone_from(&request.custom_instructions);
    dispatch.projects = projects(store)?;
    dispatch.budgets = budgets(&request.config)?;
    let (notes, unread) = load_vault(&request.config);
    dispatch.vault = notes;
    let mut built = dispatch.build()?;
    built.report.warnings.extend(unread);
    log_omissions(&built);
    let learnings = standing(&best, &built.report);
    Ok(Prompts {
        built,
        resumed: None,
        learnings,
        messages: Vec::new(),
    })
}

/// Assembles both prompts of a setup wizard from what is detected in its worktree.
pub(crate) fn build_wizard(request: ProjectRequest) -> Result<Prompts, RunnerError> {
    let detected = detect_project(&request.read_from, Some(&request.project.name));
    let context = ProjectContext {
        name: detected.name,
        description: detected.description,
        tech_stack: detected.tech_stack,
        patterns: detected.patterns,
    };
    let prompt = request.library.standalone.wizard.as_str();
    let mut dispatch = WizardDispatch::new(request.workspace(), prompt, context);
    let proposal = propose(&request)?;
    dispatch.gates = gate_commands(&proposal.gates);
    dispatch.setup = proposal.setup.map(|setup| setup.to_string());
    dispatch.entries = entries(&request.read_from)?;
    dispatch.claude_md = request.claude_md;
    dispatch.provider_reads_claude_md = reads_claude_md(request.provider);
    dispatch.budgets = budgets(&request.config)?;
    Ok(Prompts {
        built: dispatch.build()?,
        resumed: None,
        learnings: Vec::new(),
        messages: Vec::new(),
    })
}

/// Proposes gates from the base branch, which is checked out in the wizard's worktree.
fn propose(request: &ProjectRequest) -> Result<Proposal, RunnerError> {
    let repository = open_repository(&request.project, &request.config)?;
    Ok(repository.propose(&repository.base()?.commit)?)
}

/// Returns the prompt's section on searching the web, if the agent may.
pub(super) fn external_research(web: WebAccess) -> Option<ExternalResearch> {
    match web {
        WebAccess::Denied => None,
        WebAccess::Searches(max) => Some(ExternalResearch {
            max_searches: max.get(),
        }),
    }
}

/// Returns the projects of the installation, which a prompt shows if there are several.
fn projects(store: &Store) -> Result<Vec<WorkspaceProject>, RunnerError> {
    let projects = store.projects()?.into_iter().map(|project| {
        let description = detect_project(&project.root, Some(&project.name)).description;
        WorkspaceProject {
            name: project.name,
            description,
        }
    });
    Ok(projects.collect())
}

/// Lists the entries of the root without Symphony's and git's own; folders end with a slash.
fn entries(root: &Path) -> Result<Vec<String>, RunnerError> {
    let failed = |error| RunnerError::io("read the folder", root, error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if matches!(name.as_str(), ".git" | ".symphony" | ".symphony-workspaces") {
            continue;
        }
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        names.push(if folder { format!("{name}/") } else { name });
    }
    names.sort();
    names.truncate(ENTRIES_MAX);
    Ok(names)
}
