//! Processor time of a server while nothing happens.

use std::time::{Duration, Instant};

use super::Sizes;
use super::measure::{memory_kib, processor_us};
use super::project::Project;
use super::served::{Served, fill, run_id};

/// Pages that somebody has open.
const OPEN: usize = 5;

fn share(served: &Served, seconds: u64) -> f64 {
    let (before, begin) = (processor_us(served.pid()), Instant::now());
    std::thread::sleep(Duration::from_secs(seconds));
    let used = processor_us(served.pid()).saturating_sub(before);
    used as f64 / begin.elapsed().as_micros() as f64
}

pub(crate) fn run(sizes: Sizes) {
    let project = Project::new();
    fill(&project, sizes.issues);
    let served = Served::start(&project);
    drop(served.client().get("/"));
    // threads that have nothing to do any more end within this time
    std::thread::sleep(Duration::from_secs(sizes.seconds.min(12)));
    let nobody = share(&served, sizes.seconds);
    // one of them shows the log of a run
    let paths = (0..OPEN).map(|number| match number {
        0 => format!("/events?from=0-0&run={}", run_id(5)),
        _ => "/events?from=0-0".to_owned(),
    });
    let open: Vec<_> = paths
        .map(|path| {
            let mut client = served.client();
            assert_eq!(client.ask(&path).status, 200);
            client
        })
        .collect();
    std::thread::sleep(Duration::from_secs(1));
    let some = share(&served, sizes.seconds);
    drop(open);
    println!(
        "idle server: {:.2} % of a processor with no page open, {:.2} % with {OPEN} (goal below 1); {} KiB PSS",
        nobody * 100.0,
        some * 100.0,
        memory_kib(served.pid(), "Pss:")
    );
}
