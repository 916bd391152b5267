//! A judge's prompt of 258 KB in and 46 KB out, beside memcpy of its output and a JavaScript peer.
//!
//! Run: `cargo bench -p symphony-prompt`. The three run interleaved (A B A B …); the best batch of each counts, because
//! noise only ever adds. Equality stands first: the build is the same twice, and its budgeted texts are those of
//! plain references. A missing `node` is reported as missing.
//!
//! The limit is a copy of both prompts into fresh strings: the same number of bytes as the build gives, and the
//! same two calls of the allocator. It is measured twice. *Warm*: nothing but the copy runs, its source and target
//! stay in the first cache level. *Behind a build*: one copy after each build, in the caches as the build leaves
//! them, which is the state in which the build itself reads and writes. The goal is against the warm one. A build does more than a copy could: it reads the whole input once to count what it reports as cut, and the
//! shown part again to find hidden characters, prove the fence marker absent, count and fingerprint it.
//!
//! The peer is JavaScript on the same texts and budgets, counting scalar values as a script does
//! (`[...text].length`), after a warm-up of its own compiler. It does less: no fences, no report, no hash, and of
//! hidden characters the most usual ones.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark measures time, starts its peer and prints"
)]

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use symphony_prompt::{
    AgentType, AttemptInput, BuiltPrompt, CommentAuthor, CommentInput, FindingInput, FindingKind,
    IssueInput, ProfileDispatch, PullRequestReview, Review, RunStatus, Workspace,
};

/// How many times the warm copy a build may take.
const GOAL: u32 = 15;
/// Rounds of the interleaved run.
const ROUNDS: usize = 9;
/// Batches per round. A batch takes about a millisecond, so that some meet no other process even on a busy machine.
const BATCHES: u32 = 20;
/// Builds and copies per batch.
const BUILDS: u32 = 20;
const COPIES: u32 = 200;
/// Builds of the peer per round.
const PEER_BUILDS: u32 = 5;

/// A fixed pseudo-random sequence (Knuth's MMIX), so that no data is committed.
struct Words(u64);

impl Words {
    fn text(&mut self, bytes: usize) -> String {
        let words = [
            "token ", "refresh ", "the ", "clock ", "naïve ", "test\n", "session ", "of ",
            "expires ", "→ ",
        ];
        let mut text = String::new();
        while text.len() < bytes {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let index = usize::try_from(self.0 >> 33).unwrap_or(0) % words.len();
            // One word in 64 is not ASCII, as in prose with typographic signs.
            let word = if (self.0 >> 20).is_multiple_of(64) {
                "naïve → "
            } else {
                words.get(index).copied().unwrap_or_default()
            };
            text.push_str(word);
        }
        text
    }
}

fn dispatch() -> ProfileDispatch {
    let mut words = Words(42);
    let issue = IssueInput::new(
        "SYM-12"
            .parse::<symphony_core::id::IssueId>()
            .expect("an identifier"),
        "Title",
        words.text(40_000),
    );
    let workspace = Workspace {
        identifier: "SYM-12".to_owned(),
        path: "/srv/api/.symphony-workspaces/SYM-12".to_owned(),
        branch: Some("symphony/SYM-12".to_owned()),
        base: None,
    };
    let mut dispatch =
        ProfileDispatch::new(AgentType::Judge, workspace, issue, "untrusted-5d3c0f9a1e7b");
    dispatch.profile = words.text(6_000);
    dispatch.claude_md = Some(words.text(4_000));
    dispatch.attempts = (1..=3)
        .map(|attempt| AttemptInput {
            attempt,
            status: RunStatus::Failed,
            agent: None,
            duration_ms: None,
            error: None,
            output_tail: words.text(20_000),
        })
        .collect();
    dispatch.findings = (0..10)
        .map(|_| FindingInput {
            kind: FindingKind::Note,
            author: CommentAuthor::System,
            text: words.text(1_000),
            files: Vec::new(),
        })
        .collect();
    dispatch.comments = (0..30)
        .map(|_| CommentInput {
            author: CommentAuthor::Human,
            content: words.text(1_000),
            created_at: None,
        })
        .collect();
    dispatch.learnings = (0..60)
        .map(|_| words.text(150).replace('\n', " "))
        .collect();
    let diff: String = (0..12)
        .map(|n| {
            let body: String = words
                .text(7_500)
                .lines()
                .map(|line| ["+", line, "\n"].concat())
                .collect();
            [
                "diff --git a/src/f",
                &n.to_string(),
                ".rs b/src/f",
                &n.to_string(),
                ".rs\n",
                &body,
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

fn diff(dispatch: &ProfileDispatch) -> &str {
    match &dispatch.review {
        Some(Review::PullRequest(review)) => review.diff.as_deref().unwrap_or_default(),
        _ => "",
    }
}

/// Asserts that what is timed is right, by plain references.
fn check(dispatch: &ProfileDispatch, built: &BuiltPrompt) {
    assert_eq!(
        dispatch.build().as_ref(),
        Ok(built),
        "the same input gives the same bytes"
    );
    let mut parts = built.report.user.iter();
    let cap = parts
        .find(|part| part.part == "description")
        .and_then(|part| part.cap)
        .expect("the description has a cap");
    let room = usize::try_from(4 * cap.get()).expect("a few thousand") - 14;
    let chars: Vec<char> = dispatch.issue.description.trim_end().chars().collect();
    let kept: String = chars.iter().skip(chars.len() - room).collect();
    let description = ["\n...(truncated)", kept.as_str(), "\n"].concat();
    assert!(
        built.user.contains(&description),
        "the description keeps its end"
    );
    let total = built.user.chars().count().div_ceil(4) as u64;
    assert_eq!(
        built.report.user_tokens.get(),
        total,
        "tokens are characters by four"
    );
    for n in 0..12 {
        let start = ["diff --git a/src/f", &n.to_string(), ".rs"].concat();
        let beyond_limit = diff(dispatch).find(&start).is_none_or(|at| at > 50_000);
        assert!(
            beyond_limit || built.user.contains(&start),
            "file {n} keeps its beginning"
        );
    }
}

fn best(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

fn timed(repeat: u32, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..repeat {
        work();
    }
    start.elapsed() / repeat
}

fn copy(built: &BuiltPrompt) {
    black_box((
        black_box(&built.system).clone(),
        black_box(&built.user).clone(),
    ));
}

/// Time of a copy that runs right behind a build.
fn copy_behind_build(dispatch: &ProfileDispatch, built: &BuiltPrompt) -> Duration {
    let mut spent = Duration::ZERO;
    for _ in 0..BUILDS {
        black_box(black_box(dispatch).build().is_ok());
        spent += timed(1, || copy(built));
    }
    spent / BUILDS
}

fn peer(input: &std::path::Path) -> Option<Duration> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/prompt.mjs");
    let output = Command::new("node")
        .arg(script)
        .arg(input)
        .arg(PEER_BUILDS.to_string())
        .output()
        .ok()?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    answer
        .get("nanos")?
        .as_f64()
        .map(|nanos| Duration::from_secs_f64(nanos / 1e9))
}

fn main() {
    let dispatch = dispatch();
    let built = dispatch.build().expect("the example builds");
    check(&dispatch, &built);
    let bytes_in = serde_json::to_string(&dispatch).expect("serialises").len();
    let bytes_out = built.system.len() + built.user.len();
    let document = serde_json::json!({
        "description": dispatch.issue.description,
        "diff": diff(&dispatch),
        "comments": dispatch.comments.iter().map(|comment| &comment.content).collect::<Vec<_>>(),
        "findings": dispatch.findings.iter().map(|finding| &finding.text).collect::<Vec<_>>(),
        "learnings": dispatch.learnings,
        "outputs": dispatch.attempts.iter().map(|attempt| &attempt.output_tail).collect::<Vec<_>>(),
    });
    let input = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("prompt-bench.json");
    std::fs::write(&input, document.to_string()).expect("the target folder is writable");
    let (mut ours, mut copies, mut peers) = (Vec::new(), Vec::new(), Vec::new());
    let mut behind = Vec::new();
    for _ in 0..ROUNDS {
        for _ in 0..BATCHES {
            ours.push(timed(BUILDS, || {
                black_box(black_box(&dispatch).build().is_ok());
            }));
            copies.push(timed(COPIES, || copy(&built)));
            behind.push(copy_behind_build(&dispatch, &built));
        }
        peers.extend(peer(&input));
    }
    let (ours, copy, behind) = (best(&ours), best(&copies), best(&behind));
    println!("in {bytes_in} bytes, out {bytes_out} bytes; best of {ROUNDS} interleaved rounds");
    println!("prompt build          {ours:?}");
    println!(
        "memcpy, warm          {copy:?}: {:.1}x of the limit (goal {GOAL})",
        ours.as_secs_f64() / copy.as_secs_f64()
    );
    println!(
        "memcpy behind a build {behind:?}: {:.1}x of the limit",
        ours.as_secs_f64() / behind.as_secs_f64()
    );
    if peers.is_empty() {
        println!("JavaScript peer       missing: `node` could not be run");
    } else {
        let peer = best(&peers);
        println!(
            "JavaScript peer       {peer:?}: {:.0}x faster",
            peer.as_secs_f64() / ours.as_secs_f64()
        );
    }
}
