//! Error classes: the one closed list of why a run did not succeed (spec: lifecycle, "Error classes").

use crate::closed_set::closed_set;

closed_set!(
    /// Why a run did not succeed.
    ErrorClass, "error class", {
        /// The provider limits the rate of requests.
        RateLimited = "rate_limited",
        /// The provider is overloaded.
        Overloaded = "overloaded",
        /// The account's usage limit is reached.
        UsageLimit = "usage_limit",
        /// The account has no credit left.
        CreditExhausted = "credit_exhausted",
        /// The provider returned 5xx until its CLI gave up.
        ProviderError = "provider_error",
        /// Credentials are missing or refused.
        AuthFailed = "auth_failed",
        /// The provider could not be reached.
        Network = "network",
        /// The provider's program is not installed.
        ProviderMissing = "provider_missing",
        /// The disk is full.
        DiskFull = "disk_full",
        /// The sandbox could not be set up.
        SandboxUnavailable = "sandbox_unavailable",
        /// The gates fail on the base branch, too.
        BaseGatesFailed = "base_gates_failed",
        /// The provider refused the request (400).
        InvalidRequest = "invalid_request",
        /// The prompt does not fit the model.
        PromptTooLong = "prompt_too_long",
        /// The model failed.
        ModelError = "model_error",
        /// The CLI's own limit of turns.
        MaxTurns = "max_turns",
        /// The CLI's own limit of spending.
        BudgetExhausted = "budget_exhausted",
        /// Symphony's limit of time.
        TimedOut = "timed_out",
        /// Silence beyond Symphony's limit.
        Stalled = "stalled",
        /// The same tool call again and again.
        Looping = "looping",
        /// More web searches than the run may make.
        TooManySearches = "too_many_searches",
        /// More output than Symphony takes.
        OverOutput = "over_output",
        /// The agent came up without its MCP server.
        McpUnavailable = "mcp_unavailable",
        /// Ended without outcome after denials.
        PermissionDenied = "permission_denied",
        /// A clean end with neither status change nor evidence.
        NoOutcome = "no_outcome",
        /// The worktree could not be made.
        WorktreeFailed = "worktree_failed",
        /// Git died, a lock was taken or a file could not be written before the agent began.
        NotPrepared = "not_prepared",
        /// The set-up command failed.
        SetupFailed = "setup_failed",
        /// A required gate is red.
        GatesRed = "gates_red",
        /// The agent could not be started.
        SpawnFailed = "spawn_failed",
        /// The supervisor died.
        Crashed = "crashed",
        /// The host of the run stopped answering, and the work since its last hand-in is lost.
        HostLost = "host_lost",
        /// The project's folder was moved during the run.
        Moved = "moved",
        /// The configuration that runs programs was changed by the agent.
        Tampered = "tampered",
        /// Ended by a human.
        Cancelled = "cancelled",
        /// Anything else.
        AgentFailed = "agent_failed",
    }
);

impl ErrorClass {
    /// Returns whether the class is a global condition, which puts the provider on hold and uses no attempt.
    pub const fn is_hold(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::UsageLimit
                | Self::CreditExhausted
                | Self::ProviderError
                | Self::AuthFailed
                | Self::Network
                | Self::ProviderMissing
                | Self::DiskFull
                | Self::SandboxUnavailable
                | Self::BaseGatesFailed
        )
    }

    /// Returns whether it is about a provider's account, so that a person has to help: log in, or add credit.
    pub const fn is_of_account(self) -> bool {
        matches!(self, Self::AuthFailed | Self::CreditExhausted)
    }

    /// Returns the class as a person reads it.
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }

    /// Returns whether the agent of a run that ended this way was never started.
    pub const fn precedes_the_agent(self) -> bool {
        matches!(
            self,
            Self::BaseGatesFailed | Self::NotPrepared | Self::SetupFailed
        )
    }

    /// Returns whether such an end says nothing about the task: it uses no attempt.
    pub const fn uses_no_attempt(self) -> bool {
        self.is_hold() || matches!(self, Self::NotPrepared | Self::Moved | Self::HostLost)
    }
}
