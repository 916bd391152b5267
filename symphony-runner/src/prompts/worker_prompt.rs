//! The prompt of a plan phase: the pure template, filled from a folder (spec: plan, "Worker prompt template").

use std::path::{Path, PathBuf};

use symphony_core::plan::{Artifact, Phase, describe_checks};
use symphony_prompt::worker::{FileEntry, PROMPT_TOKENS_MAX, WorkerInput, WorkerPrompt};
use symphony_prompt::{ProjectContext, truncate_prompt_if_needed};
use symphony_workspace::{ContextFile, detect_part, load_context_files};

use crate::error::RunnerError;

/// What a phase's prompt is built from.
#[derive(Debug, Clone)]
pub struct WorkerPromptRequest {
    /// The folder that is looked at: the phase's worktree, or the project.
    pub root: PathBuf,
    /// What a project is called whose manifests do not name it; none = as its folder. Worktrees have other names.
    pub project_name: Option<String>,
    /// The phase.
    pub phase: Phase,
    /// What other phases pass on, in order, each with `metadata.sourcePhase`.
    pub artifacts: Vec<Artifact>,
    /// Constraints of every phase; none = the five defaults, an empty list = no constraints.
    pub global_constraints: Option<Vec<String>>,
    /// Additional instructions.
    pub instructions: Option<String>,
}

/// A phase's prompt, cut to its maximum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedWorkerPrompt {
    /// The prompt and what it was built from.
    pub built: WorkerPrompt,
    /// Whether it was longer than [`PROMPT_TOKENS_MAX`].
    pub truncated: bool,
}

/// Detects the project, loads the phase's files, builds its prompt and cuts it to [`PROMPT_TOKENS_MAX`].
///
/// # Errors
/// As [`load_worker_input`].
pub async fn build_worker_prompt(
    request: WorkerPromptRequest,
) -> Result<LoadedWorkerPrompt, RunnerError> {
    let input = load_worker_input(request).await?;
    let mut built = symphony_prompt::build_worker_prompt(&input);
    let (prompt, truncated) = truncate_prompt_if_needed(&built.prompt, PROMPT_TOKENS_MAX);
    built.prompt = prompt;
    Ok(LoadedWorkerPrompt { built, truncated })
}

/// Detects the project and loads the phase's files: the input of the pure template, for a dispatch.
///
/// A file that cannot be shown is no error: the prompt tells the agent why.
///
/// # Errors
/// When the folder is not there.
pub async fn load_worker_input(request: WorkerPromptRequest) -> Result<WorkerInput, RunnerError> {
    let root = request.root.clone();
    let patterns = request.phase.required_context.files.clone();
    let name = request.project_name.clone();
    // files are read on a thread of their own: a large project must not hold up whoever waits beside
    let read = tokio::task::spawn_blocking(move || read(&root, name.as_deref(), &patterns));
    let (project_context, files) = match read.await {
        Ok(read) => read?,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_cancelled) => {
                return Err(RunnerError::refused("the runtime is being shut down"));
            }
        },
    };
    let instructions = [describe_checks(&request.phase.checks), request.instructions];
    let instructions: Vec<String> = instructions.into_iter().flatten().collect();
    Ok(WorkerInput {
        phase: request.phase,
        project_context,
        files,
        artifacts: request.artifacts,
        global_constraints: request.global_constraints,
        custom_instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
    })
}

fn read(
    root: &Path,
    project_name: Option<&str>,
    patterns: &[String],
) -> Result<(ProjectContext, Vec<FileEntry>), RunnerError> {
    std::fs::metadata(root).map_err(|error| RunnerError::io("look at", root, error))?;
    let paths: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let found = detect_part(root, project_name, &paths);
    let context = ProjectContext {
        name: found.name,
        description: found.description,
        tech_stack: found.tech_stack,
        patterns: found.patterns,
    };
    let files = load_context_files(root, patterns);
    Ok((context, files.into_iter().map(entry).collect()))
}

fn entry(file: ContextFile) -> FileEntry {
    let path = file.path;
    match file.content {
        Ok(content) => FileEntry::Loaded { path, content },
        Err(problem) => FileEntry::Unreadable {
            path,
            error: problem.to_string(),
        },
    }
}
