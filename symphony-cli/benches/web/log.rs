//! The end of a log of a gibibyte on a run's page, and all of it as a raw file, beside bare reads of the same bytes.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::Sizes;
use super::bare;
use super::client::Client;
use super::measure::{in_turn, memory_kib};
use super::project::Project;
use super::served::{Served, fill, run_id};

/// Bytes of a log that a page shows.
const TAIL_BYTES: u64 = 128 * 1024;
/// Bytes that are read of a raw log at once.
const PART_BYTES: usize = 128 * 1024;
/// Downloads of the whole log.
const DOWNLOADS: usize = 3;

/// Writes a log of lines as runs have them.
fn write_log(path: &Path, bytes: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut block = String::new();
    while block.len() < 1 << 20 {
        let number = block.len();
        block.push_str("12:00:00 [text] The tests of the parser fail because the fixture is sorted by another locale.\n");
        block.push_str("12:00:01 [tool_use] Bash {\"command\":\"cargo test -p parser --quiet\"}\n");
        writeln!(
            block,
            "12:00:09 [tool_result] test case_{number} … \u{1b}[32mok\u{1b}[0m\\ntest result: ok"
        )
        .unwrap();
    }
    let mut file = File::create(path).unwrap();
    let mut left = bytes;
    while let Some(rest) = left.checked_sub(block.len() as u64) {
        file.write_all(block.as_bytes()).unwrap();
        left = rest;
    }
    file.write_all(b"12:59:59 [text] The last line of all\n")
        .unwrap();
    file.sync_all().unwrap();
}

/// Reads an answer, and compares it with a file.
fn assert_same(client: &mut Client, path: &str, file: &Path) {
    let head = client.ask(path);
    let mut file = File::open(file).unwrap();
    assert_eq!(head.length as u64, file.metadata().unwrap().len());
    let (mut came, mut expected) = (vec![0; PART_BYTES], vec![0; PART_BYTES]);
    let mut left = head.length;
    while left > 0 {
        let count = left.min(PART_BYTES);
        client.read(&mut came[..count]);
        file.read_exact(&mut expected[..count]).unwrap();
        assert!(
            came[..count] == expected[..count],
            "{left} bytes before the end"
        );
        left -= count;
    }
}

fn drain(client: &mut Client, path: &str, part: &mut [u8]) {
    let mut left = client.ask(path).length;
    while left > 0 {
        let count = left.min(part.len());
        client.read(&mut part[..count]);
        left -= count;
    }
}

pub(crate) fn run(sizes: Sizes) {
    let project = Project::new();
    fill(&project, 10);
    let run = run_id(5);
    let log = project.root.join(format!(".symphony/runs/{run}/log.txt"));
    write_log(&log, sizes.log_bytes);
    let served = Served::start(&project);
    let mut client = served.client();
    let mut bare = Client::connect(bare::axum(), "Host: localhost\r\n".to_owned());
    let (short, long) = (format!("/runs/{}", run_id(4)), format!("/runs/{run}"));
    let mut other = served.client();
    drop(other.get(&short));
    served.forget_peak();
    let before = served.peak_kib();
    let page = String::from_utf8(client.get(&long)).unwrap();
    assert!(page.contains("The last line of all"), "{page}");
    let as_many = format!("/{}", page.len());
    let [ours, without, least, read] = in_turn(
        sizes.rounds,
        [
            &mut || drop(client.get(&long)),
            &mut || drop(other.get(&short)),
            &mut || drop(bare.get(&as_many)),
            &mut || {
                let mut file = File::open(&log).unwrap();
                file.seek(SeekFrom::End(-TAIL_BYTES.cast_signed())).unwrap();
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                assert_eq!(bytes.len() as u64, TAIL_BYTES);
            },
        ],
    );
    let mib = sizes.log_bytes >> 20;
    println!(
        "run with a log of {mib} MiB: {:.0} KiB in {:.2} ms (goal 200), at most {} KiB more memory",
        page.len() as f64 / 1024.0,
        ours * 1e3,
        served.peak_kib() - before,
    );
    println!(
        "  {:.1} times a run without a log, {:.1} times a bare axum; a bare read of the end takes {:.3} ms",
        ours / without,
        ours / least,
        read * 1e3
    );

    let raw = format!("{long}/log");
    let mut copying = Client::connect(bare::file(log.clone()), String::new());
    served.forget_peak();
    let before = served.peak_kib();
    assert_same(&mut client, &raw, &log);
    assert_same(&mut copying, "/", &log);
    let mut part = vec![0; PART_BYTES];
    let mut same = part.clone();
    let [ours, least] = in_turn(
        DOWNLOADS,
        [&mut || drain(&mut client, &raw, &mut part), &mut || {
            drain(&mut copying, "/", &mut same);
        }],
    );
    println!(
        "its raw log: {:.0} MiB a second, {:.1} times a copy by the system, at most {} KiB more memory; {} KiB PSS",
        mib as f64 / ours,
        ours / least,
        served.peak_kib() - before,
        memory_kib(served.pid(), "Pss:")
    );
}
