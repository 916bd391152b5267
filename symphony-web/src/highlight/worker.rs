//! Colouring within a time limit. A single line may take long, and nothing can interrupt an expression: the page continues without it,
//! and the thread ends after that line.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::paint::{Time, is_code, paint};
use crate::render::diff::{Diff, FileDiff};

/// How long a page waits for colours.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Pages that are coloured at once: each takes a processor.
const AT_ONCE_MAX: usize = 2;

static PLACES: Places = Places {
    taken: Mutex::new(0),
    freed: Condvar::new(),
};

/// Colours what can be coloured in a moment; the rest stays plain.
pub fn highlight(diff: &mut Diff) {
    highlight_until(diff, Instant::now() + WAIT_MAX);
}

pub(crate) fn highlight_until(diff: &mut Diff, deadline: Instant) {
    let files = diff.files.iter().enumerate();
    let files: Vec<(usize, FileDiff)> = files
        .filter(|(_, file)| is_code(file))
        .map(|(at, file)| (at, file.clone()))
        .collect();
    if files.is_empty() {
        return;
    }
    let Some(place) = PLACES.take(deadline) else {
        return;
    };
    let (sender, receiver) = channel();
    let worker = std::thread::Builder::new().name("highlight".to_owned());
    let started = worker.spawn(move || {
        let _until_the_end = place;
        work(files, deadline, &sender);
    });
    if started.is_ok() {
        collect(diff, deadline, &receiver);
    }
}

fn work(files: Vec<(usize, FileDiff)>, deadline: Instant, done: &Sender<(usize, FileDiff)>) {
    let time = || {
        if Instant::now() < deadline {
            Time::Left
        } else {
            Time::Over
        }
    };
    for (at, mut file) in files {
        paint(&mut file, &time);
        if done.send((at, file)).is_err() || time() == Time::Over {
            return;
        }
    }
}

/// Takes the files that come in time.
fn collect(diff: &mut Diff, deadline: Instant, done: &Receiver<(usize, FileDiff)>) {
    // a file whose time ends is sent right after its last line
    let grace = deadline + Duration::from_millis(20);
    while let Ok((at, painted)) = done.recv_timeout(grace.saturating_duration_since(Instant::now()))
    {
        if let Some(file) = diff.files.get_mut(at) {
            *file = painted;
        }
    }
}

/// How many threads are at work.
struct Places {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A place that is taken; it is free again when this is dropped, also by a panic.
struct Place(&'static Places);

impl Places {
    fn take(&'static self, deadline: Instant) -> Option<Place> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self
            .freed
            .wait_timeout_while(taken, left, |taken| *taken >= AT_ONCE_MAX);
        let (mut taken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && *taken >= AT_ONCE_MAX {
            return None;
        }
        *taken += 1;
        Some(Place(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::diff::parse;

    fn rust(lines: usize) -> Diff {
        let body = "+let a: Vec<u8> = vec![1, 2]; // three\n".repeat(lines);
        parse(&format!(
            "diff --git a/a.rs b/a.rs\n@@ -0,0 +1,{lines} @@\n{body}"
        ))
    }

    fn coloured(diff: &Diff) -> usize {
        let lines = diff
            .files
            .iter()
            .flat_map(|file| &file.hunks)
            .flat_map(|hunk| &hunk.lines);
        lines.filter(|line| !line.tokens.is_empty()).count()
    }

    #[test]
    fn a_diff_gets_colours_and_keeps_its_text() {
        let mut diff = rust(3);
        highlight_until(&mut diff, Instant::now() + Duration::from_mins(1));
        assert_eq!(coloured(&diff), 3);
        for line in diff
            .files
            .iter_mut()
            .flat_map(|file| &mut file.hunks)
            .flat_map(|hunk| &mut hunk.lines)
        {
            line.tokens.clear();
        }
        assert_eq!(diff, rust(3));
    }

    #[test]
    fn a_page_waits_for_a_moment_only() {
        // brackets and quotes that never end, and 10 MB on one line
        let hostile = [
            "(".repeat(499),
            "<a ".repeat(160),
            "\\\"'".repeat(160),
            "[".repeat(499),
            "x".repeat(10 << 20),
        ];
        for path in ["a.rs", "a.ts", "a.md", "a.rb", "a.html", "a.sql"] {
            let body: String = hostile
                .iter()
                .map(|line| format!("+{line}\n").repeat(40))
                .take(4)
                .collect();
            let long = hostile.last().unwrap();
            let text = format!("diff --git a/{path} b/{path}\n@@ -0,0 +1,161 @@\n+{long}\n{body}");
            let mut diff = parse(&text);
            let begun = Instant::now();
            highlight(&mut diff);
            // twice the limit: the machine may be busy
            assert!(
                begun.elapsed() < WAIT_MAX * 2,
                "{path}: {:?}",
                begun.elapsed()
            );
        }
    }

    #[test]
    fn without_time_everything_is_plain() {
        let mut diff = rust(20_000);
        highlight_until(&mut diff, Instant::now());
        assert_eq!(coloured(&diff), 0);
    }
}
