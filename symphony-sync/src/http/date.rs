//! The server's time, which it says with each answer.

use symphony_core::Timestamp;

/// Names of months, as the header has them.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Reads a header `date`, such as `Fri, 27 Nov 2026 00:28:57 GMT` (RFC 9110, section 5.6.7; the two obsolete forms are not read).
pub(crate) fn http_date(text: &str) -> Option<Timestamp> {
    let (_weekday, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let (clock, zone) = (words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let is_whole = zone == "GMT" && words.next().is_none() && day.len() == 2 && year.len() == 4;
    let iso = format!("{year}-{month:02}-{day}T{clock}Z");
    iso.parse().ok().filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_and_anything_else_is_none() {
        for (text, expected) in [
            (
                "Fri, 27 Nov 2026 00:28:57 GMT",
                Some("2026-11-27T00:28:57Z"),
            ),
            (
                "Thu, 01 Jan 2026 23:59:59 GMT",
                Some("2026-01-01T23:59:59Z"),
            ),
            ("Fri, 31 Feb 2026 00:00:00 GMT", None),
            ("Fri, 27 Nov 2026 00:28:57 CET", None),
            ("Friday, 27-Nov-26 00:28:57 GMT", None),
            ("Fri Nov 27 00:28:57 2026", None),
            ("", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(http_date(text), expected, "{text}");
        }
    }
}
