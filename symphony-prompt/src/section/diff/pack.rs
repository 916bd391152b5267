//! Packs a diff into its share: first every file's place, then whole hunks, what matters most first.

use std::borrow::Cow;
use std::fmt::Write as _;

use symphony_core::unit::Tokens;

use super::file::{FileDiff, FileRank, Hunk, Shown};
use crate::share::even_shares;
use crate::tokens::{
    CHARS_PER_TOKEN, HeuristicCounter, TokenCounter, count_lines, estimate_tokens,
};
use crate::truncate::truncate_head_lines;

/// The longest line that can replace a hunk.
const LEFT_OUT_LINE_MAX: &str = "[99999999 lines left out]\n";
/// Least room in which the beginning of a hunk is shown that does not fit as a whole.
const BEGINNING_TOKENS_MIN: u64 = 40;

/// Packs files into `cap` tokens of at most four characters each, and returns the text. The files are sorted as they stand in
/// it, and their hunks say how much of them is shown.
///
/// Every file gets its head and the headers of its hunks first, from at most half of the room where not all fit. Hunks come
/// into what is left, rank by rank; within a rank files share evenly. Files no one wrote by hand get no room, unless there are
/// no others.
pub(super) fn pack(files: &mut [FileDiff<'_>], cap: Tokens, counter: &dyn TokenCounter) -> String {
    files.sort_by_key(|file| file.rank);
    let by_hand = files.partition_point(|file| file.rank < FileRank::Generated);
    let end = if by_hand == 0 { files.len() } else { by_hand };
    let files = files.get_mut(..end).unwrap_or_default();
    let cost = Cost(counter);
    let whole: u64 = files.iter().map(|file| cost.of(file.whole)).sum();
    if whole <= cap.get() {
        for file in &mut *files {
            file.is_placed = true;
            file.hunks
                .iter_mut()
                .for_each(|hunk| hunk.shown = Shown::Whole);
        }
    } else {
        let left = place_headers(files, cap.get(), cost);
        let left = share_out(files, left, cost);
        fill(files, left, cost);
    }
    let bytes = cap.get().min(whole).saturating_mul(CHARS_PER_TOKEN);
    let mut text = String::with_capacity(usize::try_from(bytes).unwrap_or(0));
    for file in files.iter().filter(|file| file.is_placed) {
        write_file(&mut text, file);
    }
    text
}

/// Counts tokens. The limit in characters holds for counters with longer tokens, too.
#[derive(Clone, Copy)]
struct Cost<'c>(&'c dyn TokenCounter);

impl Cost<'_> {
    fn of(self, text: &str) -> u64 {
        self.0.count(text).max(estimate_tokens(text)).get()
    }

    fn of_headers(self, file: &FileDiff<'_>) -> u64 {
        let hunks = file.hunks.iter().map(|hunk| self.of_header(hunk));
        self.of(file.head) + hunks.sum::<u64>()
    }

    fn of_header(self, hunk: &Hunk<'_>) -> u64 {
        self.of(hunk.header) + self.of(LEFT_OUT_LINE_MAX)
    }

    /// What a hunk's lines take beyond its header.
    fn of_body(self, hunk: &Hunk<'_>) -> u64 {
        let whole = self.of(hunk.header) + self.of(hunk.body);
        whole.saturating_sub(self.of_header(hunk))
    }

    /// What all hunks of a file take that is in the text.
    fn of_bodies(self, file: &FileDiff<'_>) -> u64 {
        if !file.is_placed {
            return 0;
        }
        file.hunks.iter().map(|hunk| self.of_body(hunk)).sum()
    }

    fn beginning(self, body: &str, room: u64) -> Cow<'_, str> {
        let room = Tokens::new(room.saturating_sub(1));
        match truncate_head_lines(body, room, self.0) {
            Cow::Owned(text) if estimate_tokens(&text) > room => {
                truncate_head_lines(body, room, &HeuristicCounter::default())
            }
            text => text,
        }
    }
}

/// Places the heads of files and the headers of their hunks; returns the room that is left for the hunks.
fn place_headers(files: &mut [FileDiff<'_>], cap: u64, cost: Cost<'_>) -> u64 {
    let all: u64 = files.iter().map(|file| cost.of_headers(file)).sum();
    let room = if all <= cap { cap } else { cap / 2 };
    let mut used = 0;
    for file in files {
        let headers = cost.of_headers(file);
        if used + headers <= room {
            used += headers;
            file.is_placed = true;
        }
    }
    cap - used
}

/// Shares the room among the files of one rank after the other; returns what is left.
fn share_out(files: &mut [FileDiff<'_>], mut left: u64, cost: Cost<'_>) -> u64 {
    for group in files.chunk_by_mut(|one, other| one.rank == other.rank) {
        let needs: Vec<u64> = group.iter().map(|file| cost.of_bodies(file)).collect();
        let shares = even_shares(&needs, left);
        for (file, share) in group.iter_mut().zip(shares) {
            left -= show(file, share, cost);
        }
    }
    left
}

/// Shows whole hunks of a file from the first on, and the beginning of one that is longer than all of the room; returns what
/// they take.
fn show(file: &mut FileDiff<'_>, room: u64, cost: Cost<'_>) -> u64 {
    if !file.is_placed {
        return 0;
    }
    let mut used = 0;
    for hunk in &mut file.hunks {
        let body = cost.of_body(hunk);
        let left = room - used;
        if body <= left {
            hunk.shown = Shown::Whole;
            used += body;
        } else if used == 0 && left >= BEGINNING_TOKENS_MIN {
            let beginning = cost.beginning(hunk.body, left);
            used += cost.of(&beginning);
            hunk.shown = Shown::Beginning(beginning);
            break;
        }
    }
    used
}

/// Shows further whole hunks where there is room left, in order.
fn fill(files: &mut [FileDiff<'_>], mut left: u64, cost: Cost<'_>) {
    let placed = files.iter_mut().filter(|file| file.is_placed);
    for hunk in placed.flat_map(|file| &mut file.hunks) {
        let body = cost.of_body(hunk);
        if matches!(hunk.shown, Shown::Header) && body <= left {
            hunk.shown = Shown::Whole;
            left -= body;
        }
    }
}

fn write_file(text: &mut String, file: &FileDiff<'_>) {
    text.push_str(file.head);
    for hunk in &file.hunks {
        text.push_str(hunk.header);
        match &hunk.shown {
            Shown::Whole => text.push_str(hunk.body),
            Shown::Beginning(beginning) => {
                text.push_str(beginning);
                text.push('\n');
            }
            // no line of a diff begins so
            Shown::Header => writeln!(text, "[{} lines left out]", count_lines(hunk.body))
                .expect("writing to a String cannot fail"),
        }
    }
}
