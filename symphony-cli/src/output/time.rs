//! Times and durations for people; JSON has RFC 3339 and milliseconds.

use symphony_core::Timestamp;

/// Returns how long ago a time was, in its largest two units: `3m 20s ago`; below a second `just now`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    let ms = now.as_millisecond().saturating_sub(then.as_millisecond());
    match u64::try_from(ms) {
        Ok(..1000) => "just now".to_owned(),
        Ok(ms) => format!("{} ago", compact_duration(ms)),
        Err(_) => in_future(then, now),
    }
}

/// Returns when a time will be: `in 20s`, or `now` when it has come.
pub(crate) fn in_future(then: Timestamp, now: Timestamp) -> String {
    match u64::try_from(then.as_millisecond().saturating_sub(now.as_millisecond())) {
        Ok(0) | Err(_) => "now".to_owned(),
        Ok(ms) => format!("in {}", compact_duration(ms)),
    }
}

/// Returns a duration in its largest two units: `340ms`, `12s`, `3m 20s`, `2h 5m`, `3d 4h`.
pub(crate) fn compact_duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms}ms"),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_show_two_units() {
        for (ms, expected) in [
            (0, "0ms"),
            (999, "999ms"),
            (59_999, "59s"),
            (60_000, "1m 0s"),
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
        assert_eq!(ago(at(1000), at(61_000)), "1m 0s ago");
        assert_eq!(ago(at(61_000), at(1000)), "in 1m 0s");
        assert_eq!(ago(at(1000), at(1999)), "just now");
        assert_eq!(in_future(at(1000), at(1000)), "now");
    }
}
