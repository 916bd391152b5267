//! The servers of models that opencode knows by itself.

/// A provider of models whose address opencode knows by itself.
pub(super) struct KnownServer {
    pub(super) name: &'static str,
    /// The variable with its key.
    pub(super) variable: &'static str,
    pub(super) base_url: &'static str,
    /// What a login that is not a key needs.
    pub(super) login_hosts: &'static [&'static str],
}

const fn server(
    name: &'static str,
    variable: &'static str,
    base_url: &'static str,
    login_hosts: &'static [&'static str],
) -> KnownServer {
    KnownServer {
        name,
        variable,
        base_url,
        login_hosts,
    }
}

/// By the names of models.dev, which opencode uses.
pub(super) const KNOWN: [KnownServer; 10] = [
    server(
        "anthropic",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com/v1",
        &["api.anthropic.com", "console.anthropic.com"],
    ),
    server(
        "openai",
        "OPENAI_API_KEY",
        "https://api.openai.com/v1",
        &["api.openai.com", "auth.openai.com", "chatgpt.com"],
    ),
    server(
        "google",
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta",
        &[],
    ),
    server(
        "openrouter",
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
        &[],
    ),
    server(
        "deepseek",
        "DEEPSEEK_API_KEY",
        "https://api.deepseek.com",
        &[],
    ),
    server(
        "groq",
        "GROQ_API_KEY",
        "https://api.groq.com/openai/v1",
        &[],
    ),
    server(
        "mistral",
        "MISTRAL_API_KEY",
        "https://api.mistral.ai/v1",
        &[],
    ),
    server("xai", "XAI_API_KEY", "https://api.x.ai/v1", &[]),
    // its models differ in the header that has the key, so the key goes in
    server("opencode", "OPENCODE_API_KEY", "", &["opencode.ai"]),
    server(
        "github-copilot",
        "",
        "",
        &["api.githubcopilot.com", "api.github.com", "github.com"],
    ),
];
