//! What runs cost.

use maud::{Markup, html};
use symphony_core::spending::{Spent, day_number};
use symphony_core::unit::UsdMicros;
use symphony_runner::session::Session;
use symphony_store::SpentBy;

use super::layout::{Frame, Room};
use super::parts::{money, tokens};
use crate::render::chart::{Bar, bar_chart};
use crate::routes::Asked;
use crate::server::{Failure, Turn};

/// Days that the page shows.
const DAYS: i64 = 30;

/// Draws the spending of a project.
pub(crate) fn spending(
    session: &mut Session,
    turn: &Turn,
    _asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let (store, project) = (&session.store, &session.project.id);
    let today = day_number(turn.now);
    let days = store.spent_by_day(project, today - DAYS + 1)?;
    let bars: Vec<Bar> = (today - DAYS + 1..=today)
        .map(|day| {
            let spent = days.iter().find(|(found, _)| *found == day);
            let usd = spent.map_or(0, |(_, spent)| spent.usd.get());
            Bar {
                label: date(day),
                value: usd,
                shown: money(UsdMicros::new(usd).usd()),
            }
        })
        .collect();
    let main = html! {
        h1 { "Spending" }
        div .panel {
            h2 { "US dollars a day (UTC), the last " (DAYS) " days" }
            (bar_chart("Spending by day", "Day", "Cost", &bars))
        }
        div .columns {
            @for (name, by) in [("By agent", SpentBy::Agent), ("By model", SpentBy::Model), ("By issue", SpentBy::Issue)] {
                (table(name, &store.spent_by(project, by, turn.now)?))
            }
        }
    };
    Ok(frame.draw(turn, Room::Spending, "Spending", &main))
}

fn table(name: &str, rows: &[(String, Spent)]) -> Markup {
    html! {
        div .panel {
            h2 { (name) ", the last 30 days" }
            table .list {
                thead { tr { th { "Name" } th .r { "Tokens" } th .r { "Cost" } } }
                tbody { @for (name, spent) in rows {
                    tr { td { (name) } td .r { (tokens(spent.tokens.get())) } td .r { (money(spent.usd.usd())) } }
                } }
            }
            @if rows.is_empty() { p .soft { "Nothing was spent." } }
        }
    }
}

/// The date of a day, as `11-25`.
fn date(day: i64) -> String {
    let at = symphony_core::Timestamp::from_millisecond(day.saturating_mul(86_400_000));
    let text = at.map(|at| at.to_string()).unwrap_or_default();
    text.get(5..10).unwrap_or_default().to_owned()
}
