//! The line of `/proc/PID/stat`.

use crate::process::record::ProcessRecord;

/// Parses the line; `None` when it is not valid.
///
/// A program chooses its own name, so the fields start after the *last* `)`.
pub(super) fn parse_stat(line: &[u8]) -> Option<ProcessRecord> {
    let name_start = memchr::memchr(b'(', line)?;
    let name_end = memchr::memrchr(b')', line)?;
    let pid = text(line.get(..name_start)?)?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(line.get(name_start + 1..name_end)?).into_owned();
    let fields: Vec<&str> = text(line.get(name_end + 1..)?)?
        .split_ascii_whitespace()
        .collect();
    // proc(5) counts from 1 and from the pid, so its field n is at n - 3 here.
    let state = fields.first()?.chars().next()?;
    let thread_count: u64 = fields.get(17)?.parse().ok()?;
    // A leader whose other threads continue looks like a zombie, but the process is alive.
    let is_alive = !matches!(state, 'Z' | 'X' | 'x') || thread_count > 1;
    Some(ProcessRecord {
        pid,
        name,
        is_alive,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start_time: fields.get(19)?.parse().ok()?,
        terminal: fields.get(4)?.parse().ok()?,
    })
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "1 42 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0";

    fn line(name: &str, state: char, threads: u32) -> Vec<u8> {
        format!("42 ({name}) {state} {REST} {threads} 0 987654 8192 0\n").into_bytes()
    }

    #[test]
    fn names_cannot_shift_the_fields() {
        for name in ["sh", "a b", "a) R 1 1 1", "((", ")", ""] {
            let expected = ProcessRecord {
                pid: 42,
                name: name.to_owned(),
                is_alive: true,
                parent: 1,
                group: 42,
                session: 7,
                start_time: 987_654,
                terminal: 0,
            };
            assert_eq!(parse_stat(&line(name, 'S', 1)), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_zombie_is_dead_unless_other_threads_go_on() {
        let table = [
            ('R', 1, true),
            ('T', 1, true),
            ('D', 3, true),
            ('Z', 1, false),
        ];
        for (state, threads, expected) in table.into_iter().chain([('X', 1, false), ('Z', 2, true)])
        {
            let record = parse_stat(&line("x", state, threads)).unwrap();
            assert_eq!(record.is_alive, expected, "{state} {threads}");
        }
    }

    #[test]
    fn broken_lines_are_no_record() {
        for line in [
            "",
            "42",
            "42 (x",
            "42 x) S 1",
            "x (y) S 1 2 3",
            "1 (a) S 1 1",
        ] {
            assert_eq!(parse_stat(line.as_bytes()), None, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_taken(line in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            drop(parse_stat(&line));
        }
    }
}
