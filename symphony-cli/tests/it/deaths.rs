//! Deaths that a test arms: at named points the process that passes leaves its command line in a file and is gone.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

use crate::support::{LIFE_MAX, Project};

/// Rows that live at the same time: most of a life is waiting.
const ROWS_AT_ONCE: usize = 6;
pub(crate) const TICK: &str = "tick";
pub(crate) const SUPERVISE: &str = "supervise";
pub(crate) const FINISH: &str = "supervise --finish";
/// The loop of a plan.
pub(crate) const PLAN: &str = "plan run";
pub(crate) const MERGE: &str = "pr merge";
pub(crate) const CANCEL: &str = "runs cancel";

/// The points at which processes die, in order, each with the command that does.
pub(crate) type Row = &'static [(Failpoint, &'static str)];

/// The deaths of a row, armed in a project.
pub(crate) struct Deaths {
    row: Row,
    /// A file for each death, written by who dies.
    files: Vec<PathBuf>,
    born: Instant,
}

impl Deaths {
    /// Arms the points of a row for every process of a project.
    pub(crate) fn arm(project: &mut Project, row: Row) -> Self {
        let files: Vec<PathBuf> = (0..row.len())
            .map(|number| project.beside.join(format!("died-{number}")))
            .collect();
        let armed: Vec<String> = row
            .iter()
            .zip(&files)
            .map(|((point, _), file)| format!("{}={}", point.name(), file.display()))
            .collect();
        project.set_variable(FAILPOINTS_VARIABLE, &armed.join(";"));
        Self {
            row,
            files,
            born: Instant::now(),
        }
    }

    /// How many have died.
    pub(crate) fn count(&self) -> usize {
        self.files.iter().filter(|file| file.exists()).count()
    }

    /// Says whether the life that began with the arming may go on.
    pub(crate) fn has_time(&self) -> bool {
        self.born.elapsed() < LIFE_MAX
    }

    /// Gives a command and says whether it died; another end than at one of the points or with success is an error.
    pub(crate) fn give(&self, project: &Project, command: &[&str]) -> Result<bool, String> {
        let before = self.count();
        let output = project.command(command).output().unwrap();
        let died = output.status.signal() == Some(9);
        if died && self.count() == before {
            return Err(format!(
                "{command:?} died, but at none of the points: {output:?}"
            ));
        }
        if !died && output.status.code() != Some(0) {
            return Err(format!(
                "{command:?} failed after {before} deaths: {output:?}"
            ));
        }
        Ok(died)
    }

    /// Each process died where the row says, and was the command that it says.
    pub(crate) fn check(&self) -> Result<(), String> {
        for ((point, command), file) in self.row.iter().zip(&self.files) {
            let line = std::fs::read_to_string(file)
                .map_err(|error| format!("nothing died at {}: {error}", point.name()))?;
            if command_of(&line) != *command {
                return Err(format!("at {} died `{line}`", point.name()));
            }
        }
        Ok(())
    }
}

/// Every third row from the second on for `SYMPHONY_DEATHS_PART=2/3`; all rows where it is not set.
pub(crate) fn in_part<T>(rows: impl IntoIterator<Item = T>) -> Vec<T> {
    let part = std::env::var("SYMPHONY_DEATHS_PART").unwrap_or_else(|_| "1/1".to_owned());
    let numbers = part.split_once('/').and_then(|(part, parts)| {
        let (part, parts) = (part.parse::<usize>().ok()?, parts.parse().ok()?);
        (1..=parts).contains(&part).then_some((part, parts))
    });
    let (part, parts) = numbers.expect("SYMPHONY_DEATHS_PART is like 2/3");
    rows.into_iter().skip(part - 1).step_by(parts).collect()
}

/// Lives a life with the deaths of each row, several at a time; tells what repaired them.
pub(crate) fn survive(rows: &[Row], live: fn(Row) -> Result<String, String>) {
    let rows = in_part(rows.iter().copied());
    let left = Mutex::new((0..rows.len()).collect::<VecDeque<_>>());
    let told = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..ROWS_AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(number) = left.lock().unwrap().pop_front() else {
                        return;
                    };
                    let lived = std::panic::catch_unwind(|| live(rows[number]));
                    let lived = lived.unwrap_or_else(|panic| Err(words_of(&*panic)));
                    told.lock().unwrap().insert(number, lived);
                }
            });
        }
    });
    let told = told.into_inner().unwrap();
    let mut table = format!(
        "{:<48} | {:<34} | {:<34} | result\n",
        "point", "command", "repaired by"
    );
    for (number, row) in rows.iter().enumerate() {
        let join = |word: &dyn Fn(&(Failpoint, &'static str)) -> &'static str| {
            row.iter().map(word).collect::<Vec<_>>().join(", then ")
        };
        let (point, command) = (
            join(&|(point, _)| point.name()),
            join(&|(_, command)| command),
        );
        let (repaired, result) = match &told[&number] {
            Ok(repaired) => (repaired.as_str(), "done"),
            Err(error) => ("-", error.lines().next().unwrap_or("failed")),
        };
        writeln!(
            table,
            "{point:<48} | {command:<34} | {repaired:<34} | {result}"
        )
        .unwrap();
    }
    println!("{table}");
    let failed: Vec<String> = told
        .iter()
        .filter_map(|(number, lived)| {
            Some(format!("{:?}: {}", rows[*number], lived.as_ref().err()?))
        })
        .collect();
    assert!(failed.is_empty(), "{table}\n{}", failed.join("\n\n"));
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panicked without words".to_owned())
}

/// Commands, each once with how often it was given in a row.
pub(crate) fn counted(commands: &[&str]) -> String {
    let groups: Vec<String> = commands
        .chunk_by(|one, two| one == two)
        .map(|group| match group {
            [one] => (*one).to_owned(),
            group => format!("{} ×{}", group[0], group.len()),
        })
        .collect();
    groups.join(", ")
}

/// Which command a command line is.
pub(crate) fn command_of(line: &str) -> &'static str {
    let found = [
        (" --finish", FINISH),
        (" supervise ", SUPERVISE),
        (" pr merge ", MERGE),
        (" runs cancel ", CANCEL),
        (" plan run ", PLAN),
        (" tick", TICK),
    ];
    found
        .into_iter()
        .find(|(words, _)| line.contains(words))
        .map_or("?", |(_, command)| command)
}
