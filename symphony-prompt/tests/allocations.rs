//! Allocations of a prompt build, counted: a limit that noise does not touch.
//!
//! A binary of its own, because a process has one allocator. The counter is the thread's, so that nothing else in
//! the process is counted.
#![expect(unsafe_code, reason = "an allocator is unsafe by its nature")]
#![expect(clippy::unwrap_used, reason = "a test: what fails to build fails it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use symphony_prompt::{
    AgentType, AttemptInput, CommentAuthor, CommentInput, FindingInput, FindingKind, IssueInput,
    ProfileDispatch, PullRequestReview, Review, RunStatus, Workspace,
};

/// Calls for memory of the example: 174 when this was written, and a tenth more; a part that gets what others left is drafted twice.
const CALLS_MAX: u64 = 192;
/// Bytes asked for, for each byte of the two prompts: twice for a part that was cut, once for the prompt, and growth.
const BYTES_PER_BYTE_MAX: u64 = 4;

thread_local! {
    /// Calls for memory, and bytes asked for.
    static ASKED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, counting.
struct Counting;

fn note(bytes: usize) {
    // A thread that is ending has no counter any more, and nothing to count.
    let _ended = ASKED.try_with(|asked| {
        let (calls, sum) = asked.get();
        asked.set((calls + 1, sum + bytes as u64));
    });
}

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Prose of about so many bytes, with letters and signs beyond ASCII.
fn prose(bytes: usize) -> String {
    "The token expires — naïve clocks → drift.\n".repeat(bytes.div_ceil(46))
}

/// A judge's dispatch: `scale` times 12 files of diff, 3 attempts, 10 findings, 30 comments, 40 learnings.
fn dispatch(scale: usize) -> ProfileDispatch {
    let place = Workspace {
        identifier: "SYM-12".to_owned(),
        path: "/srv/api/SYM-12".to_owned(),
        branch: Some("symphony/SYM-12".to_owned()),
        base: None,
    };
    let issue = IssueInput::new(
        "SYM-12".parse::<symphony_core::id::IssueId>().unwrap(),
        "Title",
        prose(40_000 * scale),
    );
    let mut dispatch =
        ProfileDispatch::new(AgentType::Judge, place, issue, "untrusted-5d3c0f9a1e7b");
    dispatch.profile = prose(6_000);
    dispatch.claude_md = Some(prose(4_000));
    dispatch.attempts = vec![
        AttemptInput {
            attempt: 1,
            status: RunStatus::Failed,
            agent: None,
            duration_ms: None,
            error: None,
            output_tail: prose(20_000 * scale),
        };
        3 * scale
    ];
    dispatch.findings = vec![
        FindingInput {
            kind: FindingKind::Note,
            author: CommentAuthor::System,
            text: prose(1_000),
            files: Vec::new(),
        };
        10 * scale
    ];
    dispatch.comments = vec![
        CommentInput {
            author: CommentAuthor::Human,
            content: prose(1_000),
            created_at: None,
        };
        30 * scale
    ];
    dispatch.learnings = vec!["Refresh the session before it expires".to_owned(); 40 * scale];
    let body = prose(7_500 * scale).replace('\n', "\n+");
    let diff = ('a'..='l')
        .map(|file| {
            [
                "diff --git a/",
                &file.to_string(),
                ".rs b/",
                &file.to_string(),
                ".rs\n@@ -1 +1 @@\n+",
                &body,
                "\n",
            ]
            .concat()
        })
        .collect();
    dispatch.review = Some(Review::PullRequest(Box::new(PullRequestReview {
        diff: Some(diff),
        ..PullRequestReview::default()
    })));
    dispatch
}

/// Calls for memory and bytes asked for by a build, and the bytes it gave.
fn measured(dispatch: &ProfileDispatch) -> (u64, u64, u64) {
    // What is made once per process is no cost of a build.
    dispatch.build().unwrap();
    ASKED.set((0, 0));
    let built = dispatch.build().unwrap();
    let (calls, bytes) = ASKED.get();
    (calls, bytes, (built.system.len() + built.user.len()) as u64)
}

#[test]
fn a_build_asks_for_little_memory() {
    let (calls, bytes, out) = measured(&dispatch(1));
    assert!(out > 30_000, "the example fills its budgets: {out} bytes");
    assert!(calls <= CALLS_MAX, "{calls} calls for memory");
    assert!(
        bytes <= out * BYTES_PER_BYTE_MAX,
        "{bytes} bytes asked for, {out} given"
    );
}

#[test]
fn memory_depends_on_the_budget_and_not_on_the_input() {
    let (calls, bytes, _) = measured(&dispatch(1));
    let (calls_ten, bytes_ten, _) = measured(&dispatch(10));
    assert!(
        calls_ten <= calls + 8,
        "{calls} calls, {calls_ten} for ten times the input"
    );
    assert!(
        bytes_ten <= bytes + bytes / 4,
        "{bytes} bytes, {bytes_ten} for ten times the input"
    );
}
