//! The output of a command without the parts that differ from run to run.
//!
//! Two runs of one command print the same failure with other durations, process ids, ports, temporary folders and in
//! another order of threads. The normalized output is equal for both, and differs when another test fails or another
//! line is wrong.

use std::collections::BTreeSet;

/// Number of digits from which a number counts as a process id, a port or an address rather than as a finding.
const ID_DIGITS_MIN: usize = 5;
/// Number of hexadecimal digits from which a word that has both digits and letters counts as a hash.
const HASH_DIGITS_MIN: usize = 7;

/// Prefixes of lines that show the progress of a build: a warm one prints fewer of them.
const PROGRESS: &[&str] = &[
    "Blocking waiting",
    "Compiling ",
    "Downloaded ",
    "Downloading ",
    "Fresh ",
    "Locking ",
    "Running ",
    "Updating ",
];

/// Units that make the number before them a duration.
const TIME_UNITS: &[&str] = &[
    "d", "days", "h", "hours", "m", "min", "mins", "minutes", "ms", "ns", "s", "sec", "secs",
    "second", "seconds", "us", "µs",
];

/// Returns the lines of an output that say something, each once and sorted, with everything
/// replaced that differs from run to run. `folders` are the places it ran in.
pub fn normal_lines(output: &str, folders: &[&str]) -> BTreeSet<String> {
    output
        .lines()
        .map(|line| normal_line(line, folders))
        .filter(|line| !line.is_empty() && !PROGRESS.iter().any(|begin| line.starts_with(begin)))
        .collect()
}

fn normal_line(line: &str, folders: &[&str]) -> String {
    // A progress bar overwrites itself: a person saw only its last state.
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut line = without_escapes(line);
    for folder in folders.iter().filter(|folder| folder.len() > 1) {
        line = line.replace(folder, "<folder>");
    }
    let mut before = "";
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        words.push(if names_a_duration(before) && is_decimal(word) {
            "<time>".to_owned()
        } else {
            without_keyed_duration(word).map_or_else(
                || normal_word(word),
                |(key, end)| format!("{key}<time>{end}"),
            )
        });
        before = word;
    }
    without_split_durations(words).join(" ")
}

/// Returns whether a word is the name of a duration in milliseconds and the like, followed by its number:
/// `duration_ms:`.
fn names_a_duration(word: &str) -> bool {
    let name = word.trim_matches(|c: char| !c.is_alphanumeric());
    let unit = name.rsplit_once('_').map(|(_, unit)| unit);
    unit.is_some_and(|unit| TIME_UNITS.contains(&unit))
        || ["duration", "elapsed"].contains(&name.to_ascii_lowercase().as_str())
}

/// Splits a word that is a named duration (`duration_ms=1.59,`) into what is before the number and what follows it.
fn without_keyed_duration(word: &str) -> Option<(&str, &str)> {
    let sign = word.find(['=', ':'])?;
    let (key, value) = word.split_at(sign + 1);
    let length = value.trim_end_matches(|c: char| !c.is_ascii_digit()).len();
    let (number, end) = value.split_at(length);
    (names_a_duration(key) && is_decimal(number)).then_some((key, end))
}

fn is_decimal(text: &str) -> bool {
    let number = text.trim_end_matches([',', ';', ')']);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Removes terminal escapes: `ESC [ … letter`, and single ones.
fn without_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        if rest.next() == Some('[') {
            // the parameters, up to the letter that ends the sequence
            rest.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    plain
}

/// Replaces what differs from run to run inside of one word.
fn normal_word(word: &str) -> String {
    let word = match word.find("/tmp/").or_else(|| word.find("/var/tmp/")) {
        Some(start) => {
            let (before, path) = word.split_at(start);
            let name = path.rsplit('/').next().unwrap_or_default();
            format!("{before}<tmp>/{name}")
        }
        None => word.to_owned(),
    };
    let mut normal = String::with_capacity(word.len());
    let mut rest = word.as_str();
    while let Some(first) = rest.chars().next() {
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != 'µ')
            .unwrap_or(rest.len());
        if length == 0 {
            normal.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (run, after) = rest.split_at(length);
        normal.push_str(&normal_run(run));
        rest = after;
    }
    merged_numbers(&normal)
}

/// Replaces a run of letters and digits that is a duration, a hash or an id.
fn normal_run(run: &str) -> String {
    let digits = run.chars().take_while(char::is_ascii_digit).count();
    let unit = run.get(digits..).unwrap_or_default();
    if digits > 0 && TIME_UNITS.contains(&unit) {
        return "<time>".to_owned();
    }
    if unit.is_empty() && digits >= ID_DIGITS_MIN {
        return "<id>".to_owned();
    }
    let hex = run.strip_prefix("0x").unwrap_or(run);
    let is_hex = !hex.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit());
    let has_digit = hex.chars().any(|c| c.is_ascii_digit());
    let is_address = hex.len() < run.len();
    if is_hex && has_digit && (is_address || hex.len() >= HASH_DIGITS_MIN) {
        return "<id>".to_owned();
    }
    run.to_owned()
}

/// Replaces times of day (`12:30:01`), dates (`2026-01-02`) and fractions of durations
/// (`0.<time>`).
fn merged_numbers(word: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let core = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '<' && c != '>');
    let clock: Vec<&str> = core.split(':').collect();
    let is_clock = clock.len() >= 2
        && clock.iter().all(|part| {
            is_number(part.split(['.', ',']).next().unwrap_or_default()) && part.len() <= 9
        })
        && clock.iter().take(2).all(|part| part.len() == 2);
    let date: Vec<&str> = core.split(['-', 'T', ':', '.', 'Z', '+']).collect();
    let is_date = date.len() >= 3
        && date
            .first()
            .is_some_and(|year| year.len() == 4 && is_number(year))
        && date
            .iter()
            .skip(1)
            .take(2)
            .all(|part| part.len() == 2 && is_number(part));
    let is_fraction = core
        .strip_suffix("<time>")
        .and_then(|rest| rest.strip_suffix('.'))
        .is_some_and(is_number);
    if core.is_empty() || !(is_clock || is_date || is_fraction) {
        return word.to_owned();
    }
    word.replace(core, "<time>")
}

/// Replaces durations whose unit is a word of its own (`0.31 s`, `in 3 seconds`).
fn without_split_durations(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let unit = word.trim_matches(|c: char| !c.is_alphabetic());
        let is_unit = TIME_UNITS.contains(&unit);
        if let Some(before) = kept.last_mut().filter(|_| is_unit) {
            let number = before.trim_start_matches(|c: char| !c.is_ascii_digit());
            let is_number = number.chars().next().is_some_and(|c| c.is_ascii_digit())
                && number
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '.' || c == ',');
            if is_number {
                let start = before.len() - number.len();
                before.replace_range(start.., "<time>");
                continue;
            }
        }
        kept.push(word);
    }
    kept
}
