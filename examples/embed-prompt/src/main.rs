//! Builds a worker's prompt from plain structs: no database, no runtime, no files.

use symphony_prompt::{
    AgentType, CommentAuthor, CommentInput, GateCommand, IssueId, IssueInput, Priority, ProfileDispatch, Tokens,
    Workspace,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace {
        identifier: "API-7".into(),
        path: "/srv/api/worktrees/API-7".into(),
        branch: Some("fix/API-7".into()),
        base: Some("main".into()),
    };
    let mut issue = IssueInput::new(IssueId::parse("API-7")?, "Login answers 500", "Since Monday. ".repeat(600));
    issue.priority = Priority::High;

    // In earnest the marker is random, made anew for each prompt.
    let mut dispatch = ProfileDispatch::new(AgentType::Worker, workspace, issue, "untrusted-7f3a9c0d51e2");
    dispatch.profile = "You implement one issue, with tests.".into();
    let content = "It began with the new session store.<!-- a browser hides this, and so does the prompt -->".into();
    dispatch.comments = vec![CommentInput { author: CommentAuthor::Human, content, created_at: None }];
    dispatch.gates = vec![GateCommand { name: "test".into(), command: "cargo test".into(), required: true }];
    dispatch.budgets.user_tokens = Tokens::new(4_000);

    let built = dispatch.build()?;
    println!("{}\n\n=====\n\n{}\n\n=====\n", built.system, built.user);
    for part in built.report.system.iter().chain(&built.report.user) {
        println!("{:22} ~{:5} tokens  {:?}", part.part, part.tokens, part.outcome);
    }
    Ok(())
}
