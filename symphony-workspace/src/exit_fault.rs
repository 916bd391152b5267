//! Whose a failure is that stopped exit handling.

use symphony_core::exit_handling::ExitFault;

use crate::error::WorkspaceError;

impl WorkspaceError {
    /// Returns what stopped exit handling.
    pub fn exit_fault(&self) -> ExitFault {
        match self {
            Self::Git { code: Some(_), .. } => ExitFault::Refused,
            Self::Git { code: None, .. }
            | Self::GitMissing { .. }
            | Self::GitTimedOut { .. }
            | Self::GitAnswer { .. }
            | Self::GitLocked { .. }
            | Self::LockTimeout { .. }
            | Self::Busy { .. }
            | Self::RefMoved { .. }
            | Self::NoWorktreesFolder { .. }
            | Self::CheckoutGone { .. }
            | Self::NotARepository { .. }
            | Self::BareSetting { .. }
            | Self::OwnBranchesBlocked
            | Self::NotWritable { .. }
            | Self::RemoteSilent { .. }
            | Self::AnswerCut { .. }
            | Self::Io { .. } => ExitFault::Machine,
            Self::RescueFailed { source, .. } => source.exit_fault(),
            _ => ExitFault::Work,
        }
    }
}
