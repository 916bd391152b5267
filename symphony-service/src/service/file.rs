//! The `WORKFLOW.md` while the service runs: its changes are taken over, and one that cannot be used changes nothing.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use symphony_core::front_matter::{FILE_BYTES_MAX, Problem};
use symphony_workflow::config::Preflight;
use symphony_workflow::{Config, Note, Source, Template, WorkflowError};

use super::error::ServiceError;
use super::place::{ServicePlace, write_whole};

/// Why a file is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFault {
    /// It cannot be read, or its settings are no mapping.
    Workflow(WorkflowError),
    /// Settings have values that they cannot have.
    Settings(Vec<Problem>),
    /// Something is missing without which no work starts.
    Preflight(Vec<Preflight>),
}

impl FileFault {
    /// Returns the name by which logs find it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Workflow(error) => error.class(),
            Self::Settings(_) => "invalid_workflow_settings",
            Self::Preflight(found) => found.first().map_or("preflight", |first| first.class()),
        }
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = match self {
            Self::Workflow(error) => vec![error.to_string()],
            Self::Settings(problems) => problems.iter().map(Problem::to_string).collect(),
            Self::Preflight(found) => found.iter().map(Preflight::to_string).collect(),
        };
        f.write_str(&texts.join("; "))
    }
}

impl std::error::Error for FileFault {}

/// A file that can be used.
#[derive(Debug)]
pub struct Workflow {
    /// Its text.
    pub text: String,
    /// Its settings.
    pub config: Config,
    /// What a person may want to know about it.
    pub notes: Vec<Note>,
    /// Its template; one that cannot be parsed fails the attempts that need it.
    pub template: Result<Template, WorkflowError>,
}

impl Workflow {
    /// Reads the text of a file at a place.
    ///
    /// # Errors
    /// When its settings cannot be used.
    pub fn parse(text: &str, place: &ServicePlace) -> Result<Self, FileFault> {
        let source = Source::parse(text).map_err(FileFault::Workflow)?;
        let mut reading = place.with_settings_place(|place| Config::read(&source, place));
        if !reading.problems.is_empty() {
            return Err(FileFault::Settings(reading.problems));
        }
        let missing = reading.config.preflight();
        if !missing.is_empty() {
            return Err(FileFault::Preflight(missing));
        }
        // a folder that the settings name without a separator would otherwise depend on where the service was started
        let root = place.directory().join(&reading.config.workspace.root);
        reading.config.workspace.root = root;
        Ok(Self {
            text: text.to_owned(),
            config: reading.config,
            notes: reading.notes,
            template: Template::parse(&source),
        })
    }
}

/// What a look at the file found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// It is as it was.
    None,
    /// It was taken over.
    TakenOver,
    /// It cannot be used; what was in force stays in force.
    Refused,
}

/// The file, with what is in force of it.
#[derive(Debug)]
pub struct WatchedFile {
    place: ServicePlace,
    in_force: Workflow,
    /// What was read last, so that a file that did not change is parsed once.
    seen: Result<String, WorkflowError>,
    fault: Option<FileFault>,
}

impl WatchedFile {
    /// Reads the file for the first time.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(place: &ServicePlace) -> Result<Self, ServiceError> {
        let failed = |fault| ServiceError::File {
            workflow: place.workflow.clone(),
            fault,
        };
        let text = read(&place.workflow).map_err(|error| failed(FileFault::Workflow(error)))?;
        let in_force = Workflow::parse(&text, place).map_err(failed)?;
        Ok(Self {
            place: place.clone(),
            in_force,
            seen: Ok(text),
            fault: None,
        })
    }

    /// Reads the file for the first time. Where it cannot be used, what an earlier process had in force stays in force, if
    /// there was one: agents that work need somebody who looks after them.
    ///
    /// # Errors
    /// When neither can be used.
    pub fn open_or_last(place: &ServicePlace) -> Result<Self, ServiceError> {
        let error = match Self::open(place) {
            Err(ServiceError::File { workflow, fault }) => ServiceError::File { workflow, fault },
            opened => return opened,
        };
        let last = read(&place.in_force()).ok();
        let in_force = last.and_then(|text| Workflow::parse(&text, place).ok());
        match (in_force, error) {
            (Some(in_force), ServiceError::File { fault, .. }) => Ok(Self {
                place: place.clone(),
                in_force,
                seen: read(&place.workflow),
                fault: Some(fault),
            }),
            (_, error) => Err(error),
        }
    }

    /// Reads the file again.
    pub fn reload(&mut self) -> FileChange {
        let now = read(&self.place.workflow);
        if now == self.seen {
            return FileChange::None;
        }
        self.seen.clone_from(&now);
        let parsed = now
            .map_err(FileFault::Workflow)
            .and_then(|text| Workflow::parse(&text, &self.place));
        match parsed {
            Ok(workflow) => {
                self.in_force = workflow;
                self.fault = None;
                FileChange::TakenOver
            }
            Err(fault) => {
                self.fault = Some(fault);
                FileChange::Refused
            }
        }
    }

    /// Keeps a copy of what is in force, for a tick that finds the file unusable. Says whether it differs from the last one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn keep(&self) -> Result<bool, ServiceError> {
        let path = self.place.in_force();
        let kept = fs::read_to_string(&path).ok();
        if kept.as_deref() == Some(self.in_force.text.as_str()) {
            return Ok(false);
        }
        write_whole(&path, &self.in_force.text).map(|()| true)
    }

    /// Returns what is in force.
    pub fn in_force(&self) -> &Workflow {
        &self.in_force
    }

    /// Returns why the file as it is now is not in force. No work starts until it is corrected.
    pub fn fault(&self) -> Option<&FileFault> {
        self.fault.as_ref()
    }
}

fn read(path: &Path) -> Result<String, WorkflowError> {
    let missing = |reason: String| WorkflowError::MissingFile {
        path: path.to_owned(),
        reason,
    };
    let read = || {
        let meta = fs::metadata(path)?;
        if !meta.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if meta.len() > u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX) {
            return Err(io::Error::other(format!(
                "it has {} bytes, at most {FILE_BYTES_MAX} are read",
                meta.len()
            )));
        }
        fs::read_to_string(path)
    };
    read().map_err(|error: io::Error| missing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const GOOD: &str = "---\ntracker: {kind: linear, project_slug: web, api_key: lin_secret_key}\nworkspace: {root: work}\n---\nDo {{ issue.title }}.\n";

    fn place(folder: &Path) -> ServicePlace {
        let place = ServicePlace::new(
            "/x".into(),
            folder,
            Path::new("WORKFLOW.md"),
            BTreeMap::new(),
        );
        place.unwrap()
    }

    #[test]
    fn a_change_is_taken_over_and_rubbish_keeps_what_was_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let write = |text: &str| fs::write(&place.workflow, text).unwrap();
        write(GOOD);
        let mut file = WatchedFile::open(&place).unwrap();
        assert_eq!(file.reload(), FileChange::None);
        assert_eq!(
            file.in_force().config.workspace.root,
            place.directory().join("work")
        );
        for rubbish in [
            "---\n: [\n---\n",
            "---\n- a\n---\n",
            "---\ntracker: {kind: jira}\n---\nx",
            "---\npolling: {interval_ms: soon}\n---\nx",
        ] {
            write(rubbish);
            assert_eq!(file.reload(), FileChange::Refused, "{rubbish}");
            assert_eq!(file.reload(), FileChange::None, "{rubbish}");
            assert!(file.fault().is_some());
            assert_eq!(file.in_force().text, GOOD);
        }
        fs::remove_file(&place.workflow).unwrap();
        assert_eq!(file.reload(), FileChange::Refused);
        assert_eq!(file.fault().unwrap().class(), "missing_workflow_file");
        let other = GOOD.replace("Do", "Finish");
        write(&other);
        assert_eq!(file.reload(), FileChange::TakenOver);
        assert_eq!((file.fault(), &file.in_force().text), (None, &other));
    }

    #[test]
    fn a_template_that_cannot_be_parsed_keeps_no_settings_from_being_used() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        fs::write(
            &place.workflow,
            GOOD.replace("{{ issue.title }}", "{% if %}"),
        )
        .unwrap();
        let file = WatchedFile::open(&place).unwrap();
        assert!(file.fault().is_none());
        let error = file.in_force().template.as_ref().unwrap_err();
        assert_eq!(error.class(), "template_parse_error");
    }

    #[test]
    fn a_tick_that_finds_the_file_unusable_goes_on_with_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        place.create().unwrap();
        fs::write(&place.workflow, "---\n: [\n---\n").unwrap();
        assert!(WatchedFile::open_or_last(&place).is_err());
        fs::write(&place.workflow, GOOD).unwrap();
        WatchedFile::open(&place).unwrap().keep().unwrap();
        fs::write(&place.workflow, "---\n: [\n---\n").unwrap();
        let file = WatchedFile::open_or_last(&place).unwrap();
        assert_eq!(file.in_force().text, GOOD);
        assert_eq!(file.fault().unwrap().class(), "workflow_parse_error");
    }

    #[test]
    fn no_text_of_a_fault_has_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let text = "---\ntracker: {kind: linear, api_key: lin_secret_key}\nagent: {max_turns: lots}\n---\n";
        let fault = Workflow::parse(text, &place).unwrap_err();
        assert!(!format!("{fault} {fault:?}").contains("lin_secret_key"));
    }
}
