//! Times and durations for people; JSON has RFC 3339 and milliseconds.

use symphony_core::Timestamp;
use symphony_core::zone::Zone;

/// Moments nearer than this have no clock time beside them.
const CLOCK_FROM_MS: i64 = 60_000;

/// The rules of the machine's zone.
const LOCAL_TIME: &str = "/etc/localtime";

/// What times are shown against: a moment, and the zone of whoever reads.
#[derive(Debug, Clone)]
pub struct Clock {
    now: Timestamp,
    zone: Zone,
}

impl Clock {
    /// Makes the clock of a moment and a zone.
    pub const fn new(now: Timestamp, zone: Zone) -> Self {
        Self { now, zone }
    }

    /// Reads the clock and the zone of this machine.
    pub fn system() -> Self {
        Self::new(Timestamp::now(), own_zone())
    }

    /// Returns the moment.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns when something will be: `in 9s`, `in 4m 10s (14:05)`, or `now` when the time has come.
    pub fn until(&self, then: Timestamp) -> String {
        let away = then
            .as_millisecond()
            .saturating_sub(self.now.as_millisecond());
        let relative = in_future(then, self.now);
        if away < CLOCK_FROM_MS {
            return relative;
        }
        format!("{relative} ({})", self.zone.clock(then, self.now))
    }

    /// Returns when something was, with date and time of day: `2026-11-23 14:05:09 (3m ago)`.
    pub fn since(&self, then: Timestamp) -> String {
        let at = self.zone.date_and_time(then);
        format!("{at} ({})", ago(then, self.now))
    }
}

/// Returns how long ago a time was, in its largest two units: `3m 20s ago`; below a second `just now`.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let ms = now.as_millisecond().saturating_sub(then.as_millisecond());
    match u64::try_from(ms) {
        Ok(..1000) => "just now".to_owned(),
        Ok(ms) => format!("{} ago", compact_duration(ms)),
        Err(_) => in_future(then, now),
    }
}

/// Returns when a time will be: `in 20s`, or `now` when it has come.
pub fn in_future(then: Timestamp, now: Timestamp) -> String {
    match u64::try_from(then.as_millisecond().saturating_sub(now.as_millisecond())) {
        Ok(0) | Err(_) => "now".to_owned(),
        Ok(ms) => format!("in {}", compact_duration(ms)),
    }
}

/// Returns a duration in its largest two units: `340ms`, `12s`, `3m 20s`, `2h 5m`, `3d 4h`.
pub fn compact_duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}s"),
        60..3600 => two((seconds / 60, 'm'), (seconds % 60, 's')),
        3600..86_400 => two((seconds / 3600, 'h'), (seconds % 3600 / 60, 'm')),
        _ => two((seconds / 86_400, 'd'), (seconds % 86_400 / 3600, 'h')),
    }
}

/// Writes two units; the smaller one only where there is something of it.
fn two((many, large): (u64, char), (few, small): (u64, char)) -> String {
    match few {
        0 => format!("{many}{large}"),
        few => format!("{many}{large} {few}{small}"),
    }
}

/// Reads the zone of this machine. Its file is read here, since jiff would first list all zones of the machine, in some twenty folders.
fn own_zone() -> Zone {
    let rules = match std::env::var_os("TZ") {
        None => std::fs::read(LOCAL_TIME).ok(),
        Some(_) => None,
    };
    let zone = rules.and_then(|rules| Zone::from_rules(&rules));
    zone.unwrap_or_else(Zone::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_the_machine_is_the_one_that_a_library_finds() {
        let (own, found) = (own_zone(), Zone::system());
        // before and after 2037, where the rules of a zone replace its list
        for year in [1999, 2026, 2050] {
            for month in 1..=12 {
                let at = format!("{year}-{month:02}-15T12:00:00Z");
                let at: Timestamp = at.parse().unwrap();
                assert_eq!(own.date_and_time(at), found.date_and_time(at));
            }
        }
    }

    #[test]
    fn durations_show_two_units() {
        for (ms, expected) in [
            (0, "0ms"),
            (999, "999ms"),
            (59_999, "59s"),
            (60_000, "1m"),
            (3_599_000, "59m 59s"),
            (7_500_000, "2h 5m"),
            (273_600_000, "3d 4h"),
        ] {
            assert_eq!(compact_duration(ms), expected);
        }
    }

    #[test]
    fn times_are_relative() {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(ago(at(1000), at(61_000)), "1m ago");
        assert_eq!(ago(at(61_000), at(1000)), "in 1m");
        assert_eq!(ago(at(1000), at(1999)), "just now");
        assert_eq!(in_future(at(1000), at(1000)), "now");
    }

    #[test]
    fn what_is_minutes_away_has_the_local_time_beside_it() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let clock = Clock::new(at("2026-11-23T13:00:50.500Z"), Zone::at_hours(1));
        for (then, expected) in [
            ("2026-11-23T13:00:00Z", "now"),
            ("2026-11-23T13:01:00Z", "in 9s"),
            ("2026-11-23T13:05:00.500Z", "in 4m 10s (14:05)"),
            ("2026-11-24T13:00:50.500Z", "in 1d (Tue 14:00)"),
        ] {
            assert_eq!(clock.until(at(then)), expected);
        }
        assert_eq!(
            clock.since(at("2026-11-23T12:57:50.500Z")),
            "2026-11-23 13:57:50 (3m ago)"
        );
    }
}
