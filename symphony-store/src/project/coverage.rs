//! Coverage: which file was read for which concept, so that no run reads it twice.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{ProjectId, RunId};
use symphony_core::issue::{check_line, check_text};
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{parsed_opt, time};
use crate::db::params;
use crate::error::StoreError;
use crate::issue::note::check_run_limit;

/// How many entries one run may add: more files than a run can read.
const RUN_ENTRIES_MAX: i64 = 1_000;

/// What was read.
#[derive(Debug, Clone)]
pub struct NewCoverage {
    /// The project.
    pub project: ProjectId,
    /// The file, relative to the project, with parts joined by `/`.
    pub file: String,
    /// What it was read for, on one line.
    pub concept: String,
    /// What was found there, which may be empty.
    pub notes: String,
}

/// A recorded entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoverageRecord {
    /// The file, relative to the project.
    pub file: String,
    /// What it was read for.
    pub concept: String,
    /// What was found there.
    pub notes: String,
    /// The run that read it last.
    pub run: Option<RunId>,
    /// When it was read.
    pub created_at: Timestamp,
}

impl Store {
    /// Records that a file was read for a concept, and replaces an earlier entry for the same two.
    ///
    /// # Errors
    /// When a field breaks a limit, the file is not a path inside the project, or the run has added too many entries.
    pub fn record_coverage(
        &mut self,
        context: &Context,
        new: &NewCoverage,
    ) -> Result<CoverageRecord, StoreError> {
        check_line("file", &new.file)?;
        check_line("concept", &new.concept)?;
        check_text("notes", &new.notes)?;
        let (file, concept) = (inside(&new.file)?, new.concept.trim().to_owned());
        self.write(context, |tx| {
            check_run_limit(tx, context, "coverage", RUN_ENTRIES_MAX)?;
            tx.execute(
                "INSERT INTO coverage (project, file, concept, notes, run, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (project, file, concept) DO UPDATE SET notes = ?4, run = ?5, created_at = ?6",
                params![
                    new.project.as_str(),
                    file,
                    concept,
                    new.notes,
                    context.actor.run().map(RunId::as_str),
                    context.now.as_millisecond(),
                ],
            )?;
            let about = About {
                project: Some(&new.project),
                ..About::default()
            };
            let recorded = LogEvent::CoverageRecorded {
                file: file.clone(),
                concept: concept.clone(),
            };
            append(tx, context, about, &recorded)?;
            Ok(CoverageRecord {
                file: file.clone(),
                concept: concept.clone(),
                notes: new.notes.clone(),
                run: context.actor.run().cloned(),
                created_at: context.now,
            })
        })
    }

    /// Returns a project's entries by file and concept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn coverage(
        &self,
        project: &ProjectId,
        limit: u32,
    ) -> Result<Vec<CoverageRecord>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM coverage WHERE project = ?1 ORDER BY file, concept LIMIT ?2",
        )?;
        let mut rows = statement.query(params![project.as_str(), limit])?;
        let mut records = Vec::new();
        while let Some(row) = &rows.next()? {
            records.push(CoverageRecord {
                file: row.get("file")?,
                concept: row.get("concept")?,
                notes: row.get("notes")?,
                run: parsed_opt("run", row.get("run")?)?,
                created_at: time(row.get("created_at")?)?,
            });
        }
        Ok(records)
    }
}

/// Returns a path in its stored form: relative to the project, without `.` and doubled slashes.
fn inside(file: &str) -> Result<String, StoreError> {
    let file = file.trim();
    let parts: Vec<&str> = file
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if file.starts_with('/') || parts.is_empty() || parts.contains(&"..") {
        return Err(StoreError::refused(format!(
            "file is `{file}`; a path inside the project is expected, such as src/main.rs"
        )));
    }
    Ok(parts.join("/"))
}
