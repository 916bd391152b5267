//! Killed between an intent, its effect and its outcome: whatever process of the service dies where, the next looks bring
//! the ticket to its end, with one agent at a time, and leave no process and no workspace.
//!
//! Each row lives the same life: a first attempt ends well, a second one hangs with a process that left its session, the
//! ticket ends, and its workspace is removed.

use std::os::unix::process::ExitStatusExt as _;

use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

use super::*;
use crate::deaths::{Row, counted, survive};

const LOOK_ONCE: &str = "tick";
const WORK: &str = "service-worker";

/// Points that die here.
pub(crate) const POINTS: [Failpoint; 10] = [
    Failpoint::ServicePrepared,
    Failpoint::ServiceRecorded,
    Failpoint::ServiceWorking,
    Failpoint::ServiceFolderMade,
    Failpoint::ServiceAttemptEnded,
    Failpoint::ServiceEndWritten,
    Failpoint::ServiceEndFound,
    Failpoint::ServiceEndRecorded,
    Failpoint::ServiceEndOrdered,
    Failpoint::ServiceRetryDue,
];

const ROWS: &[Row] = &{
    use Failpoint::*;
    [
        &[(ServicePrepared, LOOK_ONCE)] as Row,
        &[(ServiceRecorded, LOOK_ONCE)],
        &[(ServiceRecorded, LOOK_ONCE), (ServiceRecorded, LOOK_ONCE)],
        &[(ServiceWorking, WORK)],
        &[(ServiceFolderMade, WORK)],
        // the hook of the dead worker is recorded, and not started
        &[(ServiceFolderMade, WORK), (ServiceEndRecorded, LOOK_ONCE)],
        &[(ServiceAttemptEnded, WORK)],
        &[(ServiceAttemptEnded, WORK), (ServiceEndFound, LOOK_ONCE)],
        &[(ServiceEndWritten, WORK)],
        &[(ServiceEndFound, LOOK_ONCE)],
        &[(ServiceEndRecorded, LOOK_ONCE)],
        &[(ServiceRetryDue, LOOK_ONCE)],
        &[(ServiceRetryDue, LOOK_ONCE), (ServicePrepared, LOOK_ONCE)],
        &[(ServiceEndOrdered, LOOK_ONCE)],
        &[(ServiceEndOrdered, LOOK_ONCE), (ServiceAttemptEnded, WORK)],
        // the removal of the workspace is recorded, and not started
        &[
            (ServiceEndOrdered, LOOK_ONCE),
            (ServiceEndRecorded, LOOK_ONCE),
        ],
    ]
};

/// The first turn of all ends well, each later one hangs. Two agents at once leave a mark.
const TURN: &str = r#"exec 8>"$HOME/busy"
flock -n 8 || echo twice >> "$HOME/twice"
echo turn >> "$HOME/turns"
if [ "$(wc -l < "$HOME/turns")" -gt 1 ]; then
  setsid sleep 4324 </dev/null >/dev/null 2>&1 8>&- &
  echo $! >> "$HOME/strays"
  sleep 4324
fi
"#;

#[test]
fn every_point_of_the_service_dies_in_a_row() {
    let points = ROWS
        .iter()
        .flat_map(|row| row.iter().map(|(point, _)| *point));
    let points: std::collections::BTreeSet<Failpoint> = points.collect();
    assert_eq!(points.into_iter().collect::<Vec<_>>(), POINTS.to_vec());
}

#[test]
fn whatever_process_of_the_service_dies_where_the_ticket_comes_to_its_end() {
    survive(ROWS, live);
}

fn live(row: Row) -> Result<String, String> {
    let mut site = Site::new(&format!("{TURN}{COMPLETE}"));
    let files: Vec<PathBuf> = (0..row.len())
        .map(|number| site.path(&format!("died-{number}")))
        .collect();
    let armed: Vec<String> = row
        .iter()
        .zip(&files)
        .map(|((point, _), file)| format!("{}={}", point.name(), file.display()))
        .collect();
    site.variables = vec![(FAILPOINTS_VARIABLE, armed.join(";"))];
    site.workflow(
        "hooks:\n  after_create: echo filled > filled\n  before_run: test -e filled\n  after_run: echo after >> \"$HOME/after\"\nagent:\n  max_turns: 1\n  max_retry_backoff_ms: 1000\n",
    );
    let (id, name) = site.add_issue("Do it");
    let folder = site.path("work").join(&name);
    let begun = Instant::now();
    let (mut is_ended, mut died) = (false, Vec::new());
    loop {
        let output = site
            .symphony(&["tick", "--workflow", "--json"])
            .output()
            .unwrap();
        match (output.status.signal(), output.status.code()) {
            (Some(9), _) => died.push("tick"),
            // 1: it reports a removal that died
            (_, Some(0 | 1)) => {}
            _ => return Err(format!("{output:?}")),
        }
        if site.workers().len() > 1 {
            return Err("two workers at once".to_owned());
        }
        if !is_ended && site.lines("strays") > 0 {
            site.linear.with(|world| world.move_issue(&id, "Done"));
            is_ended = true;
        }
        if is_ended && is_over(&site, &folder, &output) {
            break;
        }
        if begun.elapsed() > 2 * DEADLINE {
            return Err(format!("it comes to no end: {output:?}\n{}", site.log()));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    check(&site, row, &files)?;
    Ok(counted(&died))
}

fn is_over(site: &Site, folder: &Path, output: &Output) -> bool {
    let Ok(state) = serde_json::from_slice::<Value>(&output.stdout) else {
        return false;
    };
    let counts = &state["counts"];
    counts["running"] == 0
        && counts["retrying"] == 0
        && !folder.exists()
        && site.workers().is_empty()
}

fn check(site: &Site, row: Row, files: &[PathBuf]) -> Result<(), String> {
    for ((point, command), file) in row.iter().zip(files) {
        let line = fs::read_to_string(file)
            .map_err(|error| format!("nothing died at {}: {error}", point.name()))?;
        if !line.contains(&format!(" {command} ")) {
            return Err(format!("at {} died `{line}`", point.name()));
        }
    }
    if site.path("twice").exists() {
        return Err("two agents worked at once".to_owned());
    }
    let strays = site.read("strays");
    let mut strays = strays.lines().map(|line| line.parse::<u32>().unwrap());
    if let Some(alive) = strays.find(|pid| is_alive(*pid)) {
        return Err(format!("the process {alive} is left"));
    }
    Ok(())
}
