//! `symphony plan renew`, and how long a lease is.

use clap::Args;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state_file::{LEASE_MS_MAX, renew};

use super::state::{StateArg, change_state};
use crate::app::App;

/// What `plan renew` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The exit code is 4 if the phase is no longer running.\n\n\
                  Example:\n  symphony plan renew .symphony-state.json build-api --lease 1h"
)]
pub(crate) struct RenewArgs {
    #[command(flatten)]
    file: StateArg,
    /// The phase
    #[arg(value_parser = |text: &str| PlanPhaseId::parse(text))]
    phase: PlanPhaseId,
    /// The length of the new lease, from now on; by default that of the last lease, or else 30m
    #[arg(long, value_name = "DURATION", value_parser = lease_ms)]
    lease: Option<u64>,
}

impl RenewArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let answer = change_state(app, &self.file.state, |state, now| {
            renew(state, &self.phase, self.lease, now)
        })?;
        app.out.document(&answer)
    }
}

/// Parses the length of a lease: a whole number and its unit, `s`, `m` or `h`.
pub(super) fn lease_ms(text: &str) -> Result<u64, String> {
    let expected = || "expected a whole number with its unit, from `1s` to `24h`".to_owned();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(expected()),
    };
    let length = number.parse::<u64>().ok();
    let length = length.and_then(|number| number.checked_mul(unit_ms));
    length
        .filter(|length| (1..=LEASE_MS_MAX).contains(length))
        .ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_has_a_number_and_a_unit() {
        for (text, expected) in [
            ("90s", Some(90_000)),
            ("30m", Some(1_800_000)),
            ("24h", Some(LEASE_MS_MAX)),
            ("25h", None),
            ("0m", None),
            ("30", None),
            ("m", None),
            ("-1m", None),
            ("1.5h", None),
            ("18446744073709551615h", None),
            ("", None),
            ("\u{665}m", None),
        ] {
            assert_eq!(lease_ms(text).ok(), expected, "{text}");
        }
    }
}
