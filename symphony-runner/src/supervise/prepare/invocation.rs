//! How the agent's CLI is called.

use symphony_core::agent::AgentType;
use symphony_core::profile::ResolvedModel;
use symphony_core::web::WebAccess;
use symphony_prompt::BuiltPrompt;

use super::site::Site;
use crate::prompts::library::PromptLibrary;
use crate::provider::{
    AgentInvocation, AgentRole, McpServerCommand, ProviderCall, RunFiles, Session,
};
use crate::supervise::Job;

/// Puts together the call of the provider.
pub(super) fn invocation(
    job: &Job<'_>,
    provider: ProviderCall,
    library: &PromptLibrary,
    site: &Site,
    built: &BuiltPrompt,
    model: Option<&ResolvedModel>,
) -> AgentInvocation {
    let agent = &job.run.agent;
    let judge = *agent == AgentType::Judge;
    let settings = job.config.providers.settings_of(&provider.full_name());
    AgentInvocation {
        extra_args: settings.args.clone(),
        extra_env: settings.env.clone(),
        call: provider,
        run: job.run.id.clone(),
        role: if judge {
            AgentRole::Judge
        } else {
            AgentRole::Author
        },
        session: Session::New,
        web: WebAccess::of(&job.run, job.config.external_research),
        model: model.map(|model| model.model.as_str().to_owned()),
        usd_max: None,
        turns_max: job.profile(library).and_then(|profile| profile.turns_max),
        worktree: site.path().to_owned(),
        files: RunFiles {
            system_prompt: job.paths.system_prompt(),
            user_prompt: job.paths.user_prompt(),
            mcp_config: job.paths.mcp_config(),
            settings: job.paths.agent_settings(),
        },
        system_prompt: built.system.clone(),
        readable_dirs: if judge {
            vec![job.paths.dir.clone()]
        } else {
            Vec::new()
        },
        mcp_server: McpServerCommand {
            program: job.installation.executable.clone(),
            socket: job.paths.socket(),
        },
        secret: uuid::Uuid::now_v7().simple().to_string(),
        is_confined: false,
    }
}
