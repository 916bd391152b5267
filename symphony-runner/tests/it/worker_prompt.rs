//! The prompt of a plan phase from a real folder.

use std::fs;

use serde_json::{Value, json};
use symphony_prompt::worker::{CONTENT_TRUNCATED, PROMPT_TOKENS_MAX, estimate_token_count};
use symphony_runner::RunnerError;
use symphony_runner::prompts::worker_prompt::{
    LoadedWorkerPrompt, WorkerPromptRequest, build_worker_prompt, load_worker_input,
};
use tempfile::TempDir;

/// The second pair of golden files of the template.
macro_rules! golden {
    ($kind:literal) => {
        include_str!(concat!(
            "../../../symphony-prompt/tests/fixtures/worker/worker-implement-auth.",
            $kind
        ))
    };
}

/// The golden document, laid out as a project: its files, and a manifest that says what its context says.
fn project() -> (TempDir, WorkerPromptRequest) {
    let document: Value = serde_json::from_str(golden!("json")).unwrap();
    let folder = TempDir::new().unwrap();
    for file in document["files"].as_array().unwrap() {
        let path = folder.path().join(file["path"].as_str().unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file["content"].as_str().unwrap()).unwrap();
    }
    let package = json!({
        "name": "my-api", "description": "REST API server", "packageManager": "bun@1.2.0",
        "dependencies": {"express": "4"}, "devDependencies": {"typescript": "5"},
    });
    fs::write(folder.path().join("package.json"), package.to_string()).unwrap();
    let request = WorkerPromptRequest {
        root: folder.path().to_owned(),
        project_name: None,
        phase: serde_json::from_value(document["phase"].clone()).unwrap(),
        artifacts: serde_json::from_value(document["artifacts"].clone()).unwrap(),
        global_constraints: None,
        instructions: None,
    };
    (folder, request)
}

fn build(request: WorkerPromptRequest) -> Result<LoadedWorkerPrompt, RunnerError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(build_worker_prompt(request))
}

#[test]
fn a_project_laid_out_as_the_golden_document_gives_its_prompt_but_for_what_is_detected() {
    let (_folder, request) = project();
    let loaded = build(request).unwrap();
    // the document names fewer things than are detected
    let detected = loaded
        .built
        .prompt
        .replace("Package Manager: bun\n", "")
        .replace(
            "- Use Bun APIs (Bun.file, Bun.serve, etc.) instead",
            "- Use Bun APIs instead",
        )
        .replace(
            "- Use bun:sqlite for database operations if SQLite is needed\n",
            "",
        )
        .replace("- Write tests using describe/it/expect pattern\n", "");
    assert_eq!(detected, golden!("md"));
    assert_eq!(loaded.built.files, ["src/routes/index.ts"]);
    assert!(!loaded.truncated);
}

#[test]
fn what_can_not_be_shown_is_said_in_the_prompt() {
    let (_folder, mut request) = project();
    request.phase.required_context.files = vec!["src/**/*.py".to_owned(), "gone.ts".to_owned()];
    request.global_constraints = Some(Vec::new());
    request.instructions = Some("Be quick.".to_owned());
    let prompt = build(request).unwrap().built.prompt;
    for part in [
        "### src/**/*.py\nError: no file matches this pattern\n",
        "### gone.ts\nError: file not found\n",
        "## Additional Instructions\n\nBe quick.\n",
    ] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
    assert!(!prompt.contains("### Global Constraints"));
}

#[test]
fn a_long_prompt_is_cut_in_its_files_and_never_over_the_maximum() {
    let (folder, mut request) = project();
    let names: Vec<String> = (0..20).map(|n| format!("long-{n:02}.txt")).collect();
    for name in &names {
        let line = "words ".repeat(20) + "\n";
        fs::write(folder.path().join(name), line.repeat(200)).unwrap();
    }
    request.phase.required_context.files = vec!["long-*.txt".to_owned()];
    let loaded = build(request).unwrap();
    assert!(loaded.truncated);
    assert!(estimate_token_count(&loaded.built.prompt) <= PROMPT_TOKENS_MAX);
    assert!(loaded.built.prompt.contains(CONTENT_TRUNCATED));
    assert!(
        loaded.built.prompt.ends_with("resolve it.\n"),
        "the end is whole"
    );
    assert_eq!(loaded.built.files, names);
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_a_worktree_has_the_projects_name() {
    let (folder, mut request) = project();
    fs::remove_file(folder.path().join("package.json")).unwrap();
    request.project_name = Some("shop".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let input = runtime
        .block_on(load_worker_input(request.clone()))
        .unwrap();
    assert_eq!(input.project_context.name, "shop");
    request.root = folder.path().join("gone");
    let error = build(request).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}
