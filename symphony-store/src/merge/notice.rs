//! Notices about base branches.

use symphony_core::id::{IssueId, PlanId, PrId};
use symphony_core::log::LogEvent;
use symphony_core::outside::{BaseNotice, NoticeKind};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::db::{Transaction, params};
use crate::error::StoreError;

pub(crate) fn insert_notice(
    tx: &Transaction<'_>,
    context: &Context,
    notice: &BaseNotice,
) -> Result<bool, StoreError> {
    // Of several runs at the same time, each sees the same change.
    let is_known = matches!(
        notice.kind,
        NoticeKind::Settings | NoticeKind::Configuration
    ) && tx
        .prepare_cached(
            "SELECT 1 FROM base_notice INDEXED BY base_notice_open
                 WHERE project = ?1 AND dismissed_at IS NULL AND kind = ?2 AND text = ?3",
        )?
        .exists(params![
            notice.project.as_str(),
            notice.kind.name(),
            notice.text
        ])?;
    if is_known {
        return Ok(false);
    }
    let inserted = tx.execute(
        "INSERT INTO base_notice (project, issue, plan, pull_request, kind, commit_id, text, at)
         VALUES (?1, ?2, ?8, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        params![
            notice.project.as_str(),
            notice.issue().map(IssueId::as_str),
            notice.pr.map(PrId::get),
            notice.kind.name(),
            notice.commit,
            notice.text,
            context.now.as_millisecond(),
            notice.plan().map(PlanId::as_str),
        ],
    )?;
    if inserted == 0 {
        return Ok(false);
    }
    let event = LogEvent::BaseNoticed {
        kind: notice.kind,
        commit: notice.commit.clone(),
        text: notice.text.clone(),
    };
    append(tx, context, about(notice), &event)?;
    Ok(true)
}

/// Returns the subject of log entries about a notice.
pub(crate) fn about(notice: &BaseNotice) -> About<'_> {
    About::of_or_project(notice.of.as_ref(), &notice.project)
}
