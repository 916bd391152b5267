//! Many open pages while many agents write: from a write to the message at each of them, and to the page that is loaded for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::Sizes;
use super::measure::{memory_kib, processor_us};
use super::project::Project;
use super::served::{Served, fill};
use super::writers::{Writers, Written};

/// Of the open pages, those that are loaded again when something has happened, as the script of the page does.
const READERS: usize = 5;
/// Time that the script waits before it loads a page again, in case more happens.
const SCRIPT_WAITS: Duration = Duration::from_millis(400);
/// Time for the last messages.
const REST: Duration = Duration::from_secs(2);

/// What a page knew, and since when.
type Known = Vec<(i64, Instant)>;

/// Opens streams on a thread of their own; each notes the numbers that it is sent. They end with this process.
fn open(served: &Served, count: usize) -> Vec<Arc<Mutex<Known>>> {
    let known: Vec<Arc<Mutex<Known>>> = (0..count).map(|_| Arc::default()).collect();
    let (all, port, headers) = (known.clone(), served.port, served.headers.clone());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let streams: Vec<_> = all
                .into_iter()
                .map(|known| tokio::spawn(listen(port, headers.clone(), known)))
                .collect();
            for stream in streams {
                stream.await.unwrap();
            }
        });
    });
    known
}

async fn listen(port: u16, headers: String, known: Arc<Mutex<Known>>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("GET /events?from=0-0 HTTP/1.1\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(event) = event_of(&line) {
            known.lock().unwrap().push((event, Instant::now()));
        }
    }
}

/// The number of the event in the id of a message.
fn event_of(line: &str) -> Option<i64> {
    let (event, _) = line.strip_prefix("id: ")?.split_once('-')?;
    event.parse().ok()
}

/// Loads the board again each time that its stream says so; returns what each page knew.
fn read(served: &Served, stop: &Arc<AtomicBool>) -> JoinHandle<Known> {
    let (mut stream, mut pages) = (served.client(), served.client());
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        let mut known = Vec::new();
        let mut newest = 0;
        assert_eq!(stream.ask("/events?from=0-0").status, 200);
        while !stop.load(Ordering::Relaxed) {
            // a message that came while the page was loaded is in the page already
            let Some(event) = event_of(&stream.line()) else {
                continue;
            };
            if event <= newest {
                continue;
            }
            std::thread::sleep(SCRIPT_WAITS);
            let page = String::from_utf8(pages.get("/")).unwrap();
            let rest = page.split("data-event=\"").nth(1).unwrap();
            newest = rest.split('"').next().unwrap().parse().unwrap();
            known.push((newest, Instant::now()));
        }
        known
    })
}

/// Returns how long each write took to each page, in seconds, sorted. Nothing may be missing.
fn latencies<'a>(written: &[Written], pages: impl Iterator<Item = &'a Known>) -> Vec<f64> {
    let mut all = Vec::new();
    for known in pages {
        for write in written {
            let came = known.iter().find(|(event, _)| *event >= write.event);
            let (_, at) = came.expect("each page learns of each write");
            all.push(at.saturating_duration_since(write.at).as_secs_f64());
        }
    }
    all.sort_by(f64::total_cmp);
    all
}

/// Returns the median and the 99th percentile, in milliseconds.
fn of(latencies: &[f64]) -> (f64, f64) {
    let at = |hundredth: usize| latencies[(latencies.len() - 1) * hundredth / 100] * 1e3;
    (at(50), at(99))
}

pub(crate) fn run(sizes: Sizes) {
    let project = Project::new();
    fill(&project, sizes.issues);
    let served = Served::start(&project);
    drop(served.client().get("/"));
    let alone = memory_kib(served.pid(), "Pss:");
    let known = open(&served, sizes.streams - READERS);
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..READERS).map(|_| read(&served, &stop)).collect();
    while known.iter().any(|known| known.lock().unwrap().is_empty()) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let (begin, before) = (Instant::now(), processor_us(served.pid()));
    let writers = Writers::start(&project.database(), sizes.writers);
    std::thread::sleep(Duration::from_secs(sizes.seconds));
    let written = writers.stop();
    let used = processor_us(served.pid()).saturating_sub(before) as f64;
    let used = used / begin.elapsed().as_micros() as f64;
    let most = memory_kib(served.pid(), "Pss:");
    std::thread::sleep(REST);
    stop.store(true, Ordering::Relaxed);
    // what waits for a message gets one more
    let last = Writers::start(&project.database(), 1);
    let pages: Vec<_> = readers
        .into_iter()
        .map(|reader| reader.join().unwrap())
        .collect();
    drop(last.stop());
    let streams: Vec<Known> = known
        .iter()
        .map(|known| known.lock().unwrap().clone())
        .collect();
    let (median, most_of) = of(&latencies(&written, streams.iter()));
    println!(
        "{} open pages, {} writers, {} writes: from write to message {median:.0} ms, 99th percentile {most_of:.0} ms (goal 1,000)",
        sizes.streams,
        sizes.writers,
        written.len()
    );
    let (median, most_of) = of(&latencies(&written, pages.iter()));
    println!(
        "  to the page that is loaded for it, by {READERS} readers: {median:.0} ms, 99th percentile {most_of:.0} ms (goal 1,000)"
    );
    println!(
        "  {:.0} % of a processor; {alone} KiB PSS without open pages, {most} KiB with them: {:.1} KiB for each",
        used * 100.0,
        most.saturating_sub(alone) as f64 / sizes.streams as f64
    );
}
