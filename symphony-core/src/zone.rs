//! The time zone of the reader.

use jiff::tz::TimeZone;

use crate::Timestamp;

/// Days within which a weekday names the day.
const WEEK_DAYS: i64 = 6;

/// A time zone, for showing moments to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// Reads the zone of the machine or of `TZ`, for the edges: in the pure crates the zone is a parameter.
    pub fn system() -> Self {
        Self(TimeZone::system())
    }

    /// Reads the rules of a zone (`TZif`, RFC 9636); `None` where they are not such.
    pub fn from_rules(rules: &[u8]) -> Option<Self> {
        TimeZone::tzif("Local", rules).ok().map(Self)
    }

    /// Creates a zone with a fixed offset from UTC; UTC itself for an impossible offset.
    pub fn at_hours(hours: i8) -> Self {
        let offset = jiff::tz::Offset::from_hours(hours).unwrap_or(jiff::tz::Offset::UTC);
        Self(offset.to_time_zone())
    }

    /// Returns a moment as short as a reader at `now` can understand it: `14:05` on the same day, `Tue 14:05` within a
    /// week, otherwise with the date.
    pub fn clock(&self, at: Timestamp, now: Timestamp) -> String {
        let (at, now) = (at.in_zone(&self.0), now.in_zone(&self.0));
        let days = (at.date() - now.date()).get_days();
        let form = match i64::from(days).abs() {
            0 => "%H:%M",
            1..=WEEK_DAYS => "%a %H:%M",
            _ => "%Y-%m-%d %H:%M",
        };
        at.strftime(form).to_string()
    }

    /// Returns date and time of day, to the second.
    pub fn date_and_time(&self, at: Timestamp) -> String {
        at.in_zone(&self.0)
            .strftime("%Y-%m-%d %H:%M:%S")
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of a file: one type, the offset of which holds from the beginning on.
    fn block(version: u8, offset: i32, name: [u8; 4]) -> Vec<u8> {
        let mut block = b"TZif".to_vec();
        block.push(version);
        block.extend([0; 15]);
        for count in [0u32, 0, 0, 0, 1, 4] {
            block.extend(count.to_be_bytes());
        }
        block.extend(offset.to_be_bytes());
        block.extend([0, 0]);
        block.extend(name);
        block
    }

    #[test]
    fn rules_hold_in_summer_and_in_years_that_no_list_names() {
        let footer = b"\nCET-1CEST,M3.5.0,M10.5.0/3\n".as_slice();
        let short = block(0, 3_600, *b"CET\0");
        let long = [
            &block(b'2', 0, *b"UTC\0"),
            &block(b'2', 3_600, *b"CET\0"),
            footer,
        ]
        .concat();
        for (rules, summer) in [(short, "13:00"), (long, "14:00")] {
            let zone = Zone::from_rules(&rules).unwrap();
            for (day, expected) in [("01-15", "13:00"), ("07-15", summer)] {
                for year in [1999, 2026, 2050] {
                    let at: Timestamp = format!("{year}-{day}T12:00:00Z").parse().unwrap();
                    let expected = format!("{year}-{day} {expected}:00");
                    assert_eq!(zone.date_and_time(at), expected);
                }
            }
        }
    }

    #[test]
    fn what_is_no_zone_is_none() {
        for text in ["", "TZif", "Europe/Berlin"] {
            assert_eq!(Zone::from_rules(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_clock_shows_what_a_reader_needs() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-11-23T21:30:00Z");
        let zone = Zone::at_hours(1);
        for (then, expected) in [
            ("2026-11-23T21:34:59.900Z", "22:34"),
            ("2026-11-23T22:59:00Z", "23:59"),
            // the day after, here
            ("2026-11-23T23:00:00Z", "Tue 00:00"),
            ("2026-11-22T10:00:00Z", "Sun 11:00"),
            ("2026-11-29T10:00:00Z", "Sun 11:00"),
            ("2026-11-30T10:00:00Z", "2026-11-30 11:00"),
        ] {
            assert_eq!(zone.clock(at(then), now), expected);
        }
        assert_eq!(Zone::at_hours(0).clock(now, now), "21:30");
        assert_eq!(zone.date_and_time(now), "2026-11-23 22:30:00");
        // Every moment can be shown.
        for end in [Timestamp::MIN, Timestamp::MAX] {
            assert!(!zone.clock(end, now).is_empty());
        }
    }
}
