//! A claim, durable before its supervisor starts, beside an append of as many bytes with `fdatasync`.

use std::fs::OpenOptions;
use std::io::Write;

use rusqlite::Connection;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{ProjectId, RunId};
use symphony_core::run::{ProtectionLevel, RunTarget};
use symphony_core::tick::StartRun;
use symphony_store::{ClaimLimits, ClaimRequest, Context, NewIssue, NewProject, Store};
use tempfile::TempDir;

use super::measure::median;
use super::new_issue::new_issue;

const CLAIMS: usize = 200;
/// Claims in one tick.
const BATCH: usize = 8;

fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

fn request(project: &ProjectId, target: RunTarget) -> ClaimRequest {
    ClaimRequest {
        run: RunId::parse(uuid::Uuid::now_v7().to_string()).unwrap(),
        start: StartRun {
            project: project.clone(),
            target,
            agent: AgentType::Worker,
            phase: None,
            attempt: 1,
            provider: "scripted".into(),
            probes: vec![],
        },
        protection: ProtectionLevel::None,
    }
}

/// Times `batches` transactions that claim `size` issues each, and appends of what each wrote; returns both medians and
/// the bytes of a transaction.
fn timed(size: usize, batches: usize) -> (f64, f64, usize) {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    let project = ProjectId::parse("bench").unwrap();
    let context = Context::system(now());
    store
        .add_project(
            &context,
            &NewProject {
                id: project.clone(),
                name: "Bench".into(),
                root: "/bench".into(),
                prefix: "BEN".into(),
            },
        )
        .unwrap();
    let issues: Vec<_> = (0..size * batches)
        .map(|number| {
            let new = NewIssue {
                description: String::new(),
                ..new_issue(&project, format!("Issue {number}"))
            };
            store.add_issue(&context, &new).unwrap().id
        })
        .collect();
    // an empty log grows with each transaction: its length tells what was written
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    Connection::open(&path)
        .and_then(|connection| connection.query_row(checkpoint, [], |_| Ok(())))
        .unwrap();
    let wal = path.with_extension("db-wal");
    let mut raw = OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.path().join("raw"))
        .unwrap();
    let (mut claims, mut appends, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let limits = ClaimLimits::total(u32::MAX);
    for batch in issues.chunks(size) {
        let requests: Vec<_> = batch
            .iter()
            .map(|issue| request(&project, RunTarget::Issue(issue.clone())))
            .collect();
        let before = wal.metadata().unwrap().len();
        let begin = std::time::Instant::now();
        let granted = store.claim(&context, &requests, &limits).unwrap();
        let claim = begin.elapsed().as_secs_f64();
        assert!(granted.iter().all(Result::is_ok), "{granted:?}");
        let written = wal.metadata().unwrap().len().saturating_sub(before);
        // a checkpoint began the log anew: its bytes cannot be told
        let Ok(written @ 1..) = usize::try_from(written) else {
            continue;
        };
        let block = vec![7_u8; written];
        let begin = std::time::Instant::now();
        raw.write_all(&block).unwrap();
        raw.sync_data().unwrap();
        claims.push(claim);
        appends.push(begin.elapsed().as_secs_f64());
        bytes.push(written as f64);
    }
    let median_bytes = bytes.len() / 2;
    bytes.sort_by(f64::total_cmp);
    let bytes = format!("{:.0}", bytes[median_bytes]).parse().unwrap();
    (median(claims), median(appends), bytes)
}

pub(crate) fn run() {
    for (size, batches) in [(1, CLAIMS), (BATCH, CLAIMS / BATCH)] {
        let (claim, append, bytes) = timed(size, batches);
        println!(
            "claim of {size} in one transaction {:.0} µs, append of its {bytes} bytes with fdatasync {:.0} µs: {:.2} times (goal 1.25)",
            claim * 1e6,
            append * 1e6,
            claim / append
        );
    }
}
