//! What runs cost.

use maud::{Markup, html};
use symphony_core::config::SpendingCap;
use symphony_core::unit::UsdMicros;
use symphony_runner::session::Session;
use symphony_view::{SpendingView, SpentFor, SpentOn, read};

use super::layout::{Frame, Room};
use super::parts::{money, tokens};
use crate::asked::Asked;
use crate::render::chart::{Bar, bar_chart};
use crate::server::{Failure, Turn};

/// Days that the page shows.
const DAYS: u32 = 30;

/// Days whose pace is taken on.
const PACE_DAYS: usize = 7;

/// How often these days are in those that the page looks ahead.
const PACES: f64 = 30.0 / 7.0;

/// Draws the spending of a project.
pub(crate) fn spending(
    session: &mut Session,
    turn: &Turn,
    _asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let spending = read::spending(session, DAYS, turn.now)?;
    let bars: Vec<Bar> = (spending.days.iter())
        .map(|SpentOn { day, spent }| Bar {
            label: day.get(5..).unwrap_or_default().to_owned(),
            value: UsdMicros::from_usd(spent.cost_usd).get(),
            shown: money(spent.cost_usd),
        })
        .collect();
    let main = html! {
        h1 { "Spending" }
        div .panel {
            h2 { "US dollars a day (UTC), the last " (DAYS) " days" }
            (bar_chart("Spending by day", "Day", "Cost", &bars))
        }
        div .columns {
            (outlook(&spending))
            (caps(session, turn)?)
        }
        div .columns {
            (table("By agent", &spending.agents))
            (table("By model", &spending.models))
            (table("By issue", &spending.issues))
        }
    };
    Ok(frame.draw(turn, Room::Spending, "Spending", &main))
}

/// What the next days cost, if they are like the last ones.
fn outlook(spending: &SpendingView) -> Markup {
    let last = spending.days.len().saturating_sub(PACE_DAYS);
    let last = spending.days.get(last..).unwrap_or_default();
    let week: f64 = last.iter().map(|day| day.spent.cost_usd).sum();
    let all: f64 = spending.days.iter().map(|day| day.spent.cost_usd).sum();
    html! {
        div .panel {
            h2 { "Outlook" }
            dl .kv {
                dt { "The last " (DAYS) " days" } dd { (money(all)) }
                dt { "The last " (PACE_DAYS) " days" } dd { (money(week)) }
                dt { "The next " (DAYS) " days at that pace" } dd { (money(week * PACES)) }
            }
        }
    }
}

/// The caps of the configuration, with what is spent of those that are of the project as a whole.
fn caps(session: &Session, turn: &Turn) -> Result<Markup, Failure> {
    let Ok(config) = session.config() else {
        // a broken configuration is reported above
        return Ok(html! {});
    };
    let caps = config.spending;
    let today = session.store.spent_today(&session.project.id, turn.now)?;
    let in_all = session.store.spent_in_all(&session.project.id, turn.now)?;
    let rows = [
        ("A run", caps.run, None),
        ("An issue", caps.issue, None),
        ("The project per day", caps.day, Some(today)),
        ("The project in total", caps.project, Some(in_all)),
    ];
    Ok(html! {
        div .panel {
            h2 { "Caps" }
            table .list {
                thead { tr { th { "Scope" } th .r { "At most" } th .r { "Spent" } } }
                tbody { @for (name, cap, spent) in rows {
                    tr { td { (name) } td .r { (cap_text(cap)) } td .r { @if let Some(spent) = spent { (money(spent.usd.usd())) " · " (tokens(spent.tokens.get())) " tokens" } } }
                } }
            }
            p .soft { "Nothing more starts once a cap is reached. " code { "symphony config set spending.day.usd 20" } " sets one." }
        }
    })
}

fn cap_text(cap: SpendingCap) -> String {
    let usd = cap.usd.map(|usd| money(usd.usd()));
    let count = cap
        .tokens
        .map(|count| format!("{} tokens", tokens(count.get())));
    let parts: Vec<String> = usd.into_iter().chain(count).collect();
    if parts.is_empty() {
        "no cap".to_owned()
    } else {
        parts.join(" or ")
    }
}

fn table(name: &str, rows: &[SpentFor]) -> Markup {
    html! {
        div .panel {
            h2 { (name) ", the last " (DAYS) " days" }
            table .list {
                thead { tr { th { "Name" } th .r { "Tokens" } th .r { "Cost" } } }
                tbody { @for SpentFor { name, spent } in rows {
                    tr { td { (name) } td .r { (tokens(spent.tokens)) } td .r { (money(spent.cost_usd)) } }
                } }
            }
            @if rows.is_empty() { p .soft { "Nothing was spent." } }
        }
    }
}
