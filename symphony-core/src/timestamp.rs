//! Moments: milliseconds since the epoch, written in one form whose order as text is the order in time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment, to the millisecond: what finer clocks know is cut off, so that a moment is the same before and after it
/// was stored or written down.
///
/// As text, in JSON, state files and hooks it is RFC 3339 in UTC with exactly three digits of a second's fraction:
/// `2026-11-22T07:26:27.040Z`. Such texts sort as the moments do. Any RFC 3339 time is read.
///
/// ```
/// use symphony_core::Timestamp;
/// let at: Timestamp = "2026-11-22T08:26:27.04+01:00".parse()?;
/// assert_eq!(at.to_string(), "2026-11-22T07:26:27.040Z");
/// # Ok::<(), symphony_core::timestamp::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

/// Why something is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimestampError {
    /// The text is not a time.
    #[error("`{found}` is not a time; expected RFC 3339, such as `2026-11-22T07:26:27.040Z`")]
    Text {
        /// What was found, at most 64 characters of it.
        found: String,
    },
    /// The number is outside the years 0000 to 9999, for which the text has a fixed form.
    #[error("{found} {unit} since the epoch are not within the years 0000 to 9999")]
    Range {
        /// The number.
        found: i64,
        /// Its unit.
        unit: &'static str,
    },
}

/// Milliseconds of 0000-01-01T00:00:00.000Z.
const MIN_MS: i64 = -62_167_219_200_000;
/// Milliseconds of the last moment that RFC 3339 can write in every time zone, 9999-12-30T22:00:00.999Z.
const MAX_MS: i64 = 253_402_207_200_999;
/// Longest text that is repeated in an error, in characters.
const FOUND_CHARS_MAX: usize = 64;

impl Timestamp {
    /// The beginning of 1970.
    pub const UNIX_EPOCH: Self = Self(jiff::Timestamp::UNIX_EPOCH);
    /// The last moment.
    pub const MAX: Self = Self(jiff::Timestamp::constant(253_402_207_200, 999_000_000));
    /// The first moment.
    pub const MIN: Self = Self(jiff::Timestamp::constant(-62_167_219_200, 0));

    /// Reads the clock, for the edges: in the pure crates `now` is a parameter, and their lints refuse this call.
    #[expect(
        clippy::disallowed_methods,
        reason = "the constructor for the edges; each pure crate's clippy.toml disallows its use"
    )]
    pub fn now() -> Self {
        Self::at_most(jiff::Timestamp::now())
    }

    /// Creates a moment of milliseconds since the epoch.
    ///
    /// # Errors
    /// When it is outside the years 0000 to 9999.
    pub fn from_millisecond(ms: i64) -> Result<Self, TimestampError> {
        let range = TimestampError::Range {
            found: ms,
            unit: "milliseconds",
        };
        if !(MIN_MS..=MAX_MS).contains(&ms) {
            return Err(range);
        }
        // jiff's own constructor ends at the last whole second
        let nanoseconds = i32::try_from(ms.rem_euclid(1000) * 1_000_000);
        nanoseconds
            .ok()
            .and_then(|nanoseconds| jiff::Timestamp::new(ms.div_euclid(1000), nanoseconds).ok())
            .map(Self)
            .ok_or(range)
    }

    /// Creates a moment of seconds since the epoch.
    ///
    /// # Errors
    /// When it is outside the years 0000 to 9999.
    pub fn from_second(seconds: i64) -> Result<Self, TimestampError> {
        seconds
            .checked_mul(1000)
            .and_then(|ms| Self::from_millisecond(ms).ok())
            .ok_or(TimestampError::Range {
                found: seconds,
                unit: "seconds",
            })
    }

    /// Returns the milliseconds since the epoch.
    pub fn as_millisecond(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Returns the whole seconds since the epoch.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// Returns the moment this many milliseconds later, or the last one.
    #[must_use]
    pub fn saturating_add_ms(self, ms: u64) -> Self {
        let ms = self.as_millisecond().saturating_add_unsigned(ms);
        Self::from_millisecond(ms).unwrap_or(Self::MAX)
    }

    /// Returns how much later this is than another moment; negative when it is earlier.
    pub fn duration_since(self, earlier: Self) -> jiff::SignedDuration {
        self.0.duration_since(earlier.0)
    }

    /// Writes the moment in a form of `strftime`, in UTC.
    pub fn strftime<'f>(&self, format: &'f str) -> jiff::fmt::strtime::Display<'f> {
        self.0.strftime(format)
    }

    /// Returns what calendar and clock show in a zone.
    pub(crate) fn in_zone(self, zone: &jiff::tz::TimeZone) -> jiff::Zoned {
        self.0.to_zoned(zone.clone())
    }

    /// Cuts a finer moment to its millisecond, and what is out of range to the nearest moment within.
    fn at_most(fine: jiff::Timestamp) -> Self {
        let ms = i64::try_from(fine.as_nanosecond().div_euclid(1_000_000));
        let ms = ms.unwrap_or(MAX_MS).clamp(MIN_MS, MAX_MS);
        Self::from_millisecond(ms).unwrap_or(Self::MAX)
    }
}

/// The one form; see [`Timestamp`].
const FORM: jiff::fmt::temporal::DateTimePrinter =
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(3));

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // no precision and no width: the form is fixed
        f.write_str(&FORM.timestamp_to_string(&self.0))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let wrong = || TimestampError::Text {
            found: text.chars().take(FOUND_CHARS_MAX).collect(),
        };
        let fine: jiff::Timestamp = text.parse().map_err(|_not_a_time| wrong())?;
        let cut = Self::at_most(fine);
        // What is outside the range would become another moment, not a coarser one.
        if fine.duration_since(cut.0) < jiff::SignedDuration::from_millis(1) && fine >= cut.0 {
            Ok(cut)
        } else {
            Err(wrong())
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in RFC 3339, such as `2026-11-22T07:26:27.040Z`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_have_one_form_whatever_was_read() {
        for (read, written) in [
            ("2026-11-22T07:26:27Z", "2026-11-22T07:26:27.000Z"),
            ("2026-11-22T07:26:27.1Z", "2026-11-22T07:26:27.100Z"),
            ("2026-11-22T07:26:27.1239Z", "2026-11-22T07:26:27.123Z"),
            ("2026-11-22T07:26:27.999999999Z", "2026-11-22T07:26:27.999Z"),
            ("2026-11-22 08:26:27.5+01:00", "2026-11-22T07:26:27.500Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("9999-12-30T22:00:00.9999Z", "9999-12-30T22:00:00.999Z"),
        ] {
            let at: Timestamp = read.parse().unwrap();
            assert_eq!(at.to_string(), written);
            assert_eq!(serde_json::to_value(at).unwrap(), written);
            assert_eq!(
                serde_json::from_value::<Timestamp>(read.into()).unwrap(),
                at
            );
            assert_eq!(format!("{at:?} {at:.3}"), format!("{written} {written}"));
        }
    }

    #[test]
    fn what_is_no_moment_says_what_is_expected() {
        for text in [
            "",
            "now",
            "2026-11-22",
            "2026-11-22T07:26:27",
            "-000001-12-31T23:59:59.9999Z",
        ] {
            assert_eq!(
                text.parse::<Timestamp>().unwrap_err().to_string(),
                format!(
                    "`{text}` is not a time; expected RFC 3339, such as `2026-11-22T07:26:27.040Z`"
                )
            );
        }
        let error = serde_json::from_str::<Timestamp>("17")
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected a time in RFC 3339"), "{error}");
        for (result, found) in [
            (
                Timestamp::from_millisecond(MAX_MS + 1),
                "253402207201000 milliseconds",
            ),
            (
                Timestamp::from_millisecond(i64::MIN),
                "-9223372036854775808 milliseconds",
            ),
            (
                Timestamp::from_second(i64::MAX),
                "9223372036854775807 seconds",
            ),
        ] {
            assert_eq!(
                result.unwrap_err().to_string(),
                format!("{found} since the epoch are not within the years 0000 to 9999")
            );
        }
    }

    #[test]
    fn the_ends_of_the_range_are_moments_and_adding_stops_there() {
        assert_eq!(Timestamp::from_millisecond(MAX_MS), Ok(Timestamp::MAX));
        assert_eq!(Timestamp::from_millisecond(MIN_MS), Ok(Timestamp::MIN));
        assert_eq!(Timestamp::from_second(0), Ok(Timestamp::UNIX_EPOCH));
        assert_eq!(Timestamp::MIN.saturating_add_ms(u64::MAX), Timestamp::MAX);
        assert_eq!(
            Timestamp::UNIX_EPOCH
                .saturating_add_ms(1_500)
                .as_millisecond(),
            1_500
        );
        assert_eq!(Timestamp::at_most(jiff::Timestamp::MIN), Timestamp::MIN);
        assert_eq!(Timestamp::at_most(jiff::Timestamp::MAX), Timestamp::MAX);
    }

    proptest! {
        /// The order of texts is the order of moments, and a text is read as the moment it was written from.
        #[test]
        fn texts_sort_as_moments_do(a in MIN_MS..=MAX_MS, b in MIN_MS..=MAX_MS, near in 0i64..2_000) {
            for other in [b, a.saturating_add(near).min(MAX_MS)] {
                let (one, other) = (Timestamp::from_millisecond(a).unwrap(), Timestamp::from_millisecond(other).unwrap());
                prop_assert_eq!(one.to_string().cmp(&other.to_string()), one.cmp(&other));
                prop_assert_eq!(one.to_string().len(), 24);
                prop_assert_eq!(one.to_string().parse(), Ok(one));
            }
        }
    }
}
