//! `symphony learnings import`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::PathBuf;

use clap::Args;
use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::issue::TEXT_BYTES_MAX;
use symphony_store::LearningRecord;
use symphony_view::ImportView;
use symphony_view::text::plural;

use super::line::LearningLine;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::json::from_json;
use symphony_runner::order::SecretCheck;

/// Longest line: every text at its limit, escaped, and the rest of the fields.
const LINE_BYTES_MAX: usize = 8 * TEXT_BYTES_MAX;
/// Bad lines that are listed: enough to see what is wrong with a file.
const PROBLEMS_MAX: usize = 20;

/// What `learnings import` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The file has one JSON object per line; only `pattern` is required. A learning whose id already \
                  exists is left as it is. If any line is wrong, nothing is imported.\n\n\
                  Example:\n  symphony learnings import learnings.jsonl"
)]
pub(crate) struct ImportArgs {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl ImportArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let secrets = app.secrets()?;
        let records = self.read(app, &session.project.id, &secrets)?;
        let imported = session
            .store
            .import_learnings(&App::as_human(), &session.project.id, &records)
            .context("import the learnings")?;
        let added = plural(
            usize::try_from(imported.added).unwrap_or(usize::MAX),
            "learning",
        );
        let sentence = format!("Imported {added}; {} already existed.", imported.skipped);
        app.out.done(&ImportView::from(imported), &sentence)
    }

    fn name(&self) -> String {
        if self.file.as_os_str() == "-" {
            "standard input".to_owned()
        } else {
            self.file.display().to_string()
        }
    }

    fn read(
        &self,
        app: &App,
        project: &ProjectId,
        secrets: &SecretCheck,
    ) -> anyhow::Result<Vec<LearningRecord>> {
        let what = || format!("read {}", self.name());
        if self.file.as_os_str() == "-" {
            return self.records(std::io::stdin().lock(), project, secrets);
        }
        let path = app.surroundings.current.join(&self.file);
        match File::open(&path) {
            Ok(file) => self.records(BufReader::new(file), project, secrets),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Stop::new(Exit::NotFound, "there is no such file")).with_context(what)
            }
            Err(error) => Err(error).with_context(what),
        }
    }

    fn records(
        &self,
        mut source: impl BufRead,
        project: &ProjectId,
        secrets: &SecretCheck,
    ) -> anyhow::Result<Vec<LearningRecord>> {
        let (mut records, mut problems, mut bad) = (Vec::new(), Vec::new(), 0_usize);
        let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let now = Timestamp::now();
        let mut line = Vec::new();
        for number in 1_usize.. {
            line.clear();
            source
                .by_ref()
                .take(limit + 1)
                .read_until(b'\n', &mut line)
                .with_context(|| format!("read {}", self.name()))?;
            if line.is_empty() {
                break;
            }
            if line.len() > LINE_BYTES_MAX {
                // where the line ends, and so what follows, is unknown
                let message = format!(
                    "line {number} of {} is longer than {LINE_BYTES_MAX} bytes",
                    self.name()
                );
                return Err(Stop::new(Exit::Failed, message).into());
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match record(&line, project, secrets, now) {
                Ok(record) => records.push(record),
                Err(problem) => {
                    bad += 1;
                    if problems.len() < PROBLEMS_MAX {
                        problems.push(format!("line {number}: {problem}"));
                    }
                }
            }
        }
        if bad == 0 {
            return Ok(records);
        }
        let listed = problems.join("; ");
        let message = format!(
            "nothing was imported, because {} of {} cannot be used: {listed}",
            plural(bad, "line"),
            self.name()
        );
        let hint = "fix these lines and run the command again";
        Err(Stop::new(Exit::Failed, message).hint(hint).into())
    }
}

/// Reads one line; the problem names the field.
fn record(
    line: &[u8],
    project: &ProjectId,
    secrets: &SecretCheck,
    now: Timestamp,
) -> Result<LearningRecord, String> {
    if let Some(held) = secrets.named_in(&String::from_utf8_lossy(line)) {
        return Err(format!("it contains the value of {held}"));
    }
    let parsed: LearningLine = from_json(line).map_err(|problem| problem.in_a_line())?;
    let record = parsed.into_record(project, now);
    record.check().map_err(|error| error.to_string())?;
    Ok(record)
}
