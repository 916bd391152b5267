//! Pages of a large project, and a file that is part of the program, beside a bare `axum` that sends as many bytes.

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_store::{Context, Store};

use super::Sizes;
use super::bare;
use super::client::Client;
use super::measure::{in_turn, memory_kib};
use super::project::Project;
use super::served::{Served, fill};

/// Comments on the issue that is shown.
const COMMENTS: usize = 20;

pub(crate) fn run(sizes: Sizes) {
    let project = Project::new();
    fill(&project, sizes.issues);
    let issue = format!("BEN-{}", sizes.issues / 2);
    let mut store = Store::open(&project.database()).unwrap();
    for number in 0..COMMENTS {
        let text = format!("Comment {number}: the fixture is **sorted** by `LC_ALL`.");
        let context = Context::system(Timestamp::now());
        store
            .add_comment(&context, &IssueId::parse(&issue).unwrap(), &text)
            .unwrap();
    }
    let served = Served::start(&project);
    let mut client = served.client();
    let mut bare = Client::connect(bare::axum(), "Host: localhost\r\n".to_owned());
    let board = String::from_utf8(client.get("/")).unwrap();
    let style = board
        .split("href=\"")
        .find(|rest| rest.starts_with("/assets/style"));
    let style = style.and_then(|rest| rest.split('"').next()).unwrap();
    println!(
        "pages of {} issues, as many runs and ten times as many events:",
        sizes.issues
    );
    let issue = format!("/issues/{issue}");
    let pages = [
        ("board", "/", "BEN-20:"),
        ("issue", &issue, "Comment 19: "),
        ("inbox", "/inbox", "a decision"),
        ("runs", "/runs", "BEN-"),
        ("spending", "/spending", "model-2"),
        ("static file", style, "color"),
    ];
    for (name, path, marker) in pages {
        let page = String::from_utf8(client.get(path)).unwrap();
        let marker = marker.trim_end_matches(':');
        assert!(page.contains(marker), "{path} has no {marker}: {page}");
        let as_many = format!("/{}", page.len());
        assert_eq!(bare.get(&as_many).len(), page.len());
        let [ours, least] = in_turn(
            sizes.rounds,
            [&mut || drop(client.get(path)), &mut || {
                drop(bare.get(&as_many));
            }],
        );
        println!(
            "  {name}: {:.0} KiB in {:.2} ms, {:.1} times a bare axum",
            page.len() as f64 / 1024.0,
            ours * 1e3,
            ours / least
        );
    }
    println!("  memory {} KiB PSS", memory_kib(served.pid(), "Pss:"));
}
