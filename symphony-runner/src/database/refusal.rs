//! Why a database is not used, restored, or taken along with its project.

use std::path::{Path, PathBuf};

use symphony_core::config::Database;
use symphony_core::id::ProjectId;
use symphony_core::listing::list_few;
use symphony_core::restore::Loss;

/// Runs and processes that a text names.
const NAMES_MAX: usize = 3;

/// What is refused about a database and the folders of its projects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum DatabaseRefusal {
    /// There is no file.
    #[error("the database {database} does not exist")]
    Missing { database: Database, root: PathBuf },
    /// SQLite's locks, and those of runs, hold on one machine only.
    #[error("the database {} is on a network file system ({file_system}), where file locks are unreliable", database.display())]
    OnNetwork {
        database: PathBuf,
        file_system: String,
    },
    /// The environment names no folder for backups.
    #[error("neither XDG_STATE_HOME nor HOME is set: there is no folder for backups")]
    NoStateFolder,
    /// A tick is at work with it.
    #[error("a tick is using this database")]
    TickAtWork,
    /// Other processes would go on writing to the file that is set aside.
    #[error("other processes, such as `symphony run`, have the database open ({})",
        list_few(.0.iter().map(String::as_str), NAMES_MAX))]
    IsOpen(Vec<String>),
    /// Runs are at work in a folder.
    #[error("runs are active in {} ({})", root.display(), list_few(runs.iter().map(String::as_str), NAMES_MAX))]
    RunsAreActive { root: PathBuf, runs: Vec<String> },
    /// The current database can be used, and no one has confirmed that it is to be replaced.
    #[error("the current database {database} is intact; {} would lose {loss}", replacing(backup.as_deref()))]
    Healthy {
        database: Database,
        backup: Option<PathBuf>,
        loss: Box<Loss>,
    },
    /// There is nothing in it to go on with.
    #[error("{} cannot be kept: it is missing, empty or damaged", .0.display())]
    NothingToKeep(PathBuf),
    /// What was named is no backup.
    #[error("{} is neither a file nor a backup of this repository", .0.display())]
    NoSuchBackup(PathBuf),
    /// It is in use on a server.
    #[error("other Symphony commands are using the database (processes {} of the server)", list_few(.0.iter().map(String::as_str), NAMES_MAX))]
    HasSessions(Vec<String>),
    /// Agents of another host are active.
    #[error("agents on another host are using this database ({0})")]
    OtherHost(String),
    /// It would be copied onto itself.
    #[error("the configuration already names the database {0}")]
    SameDatabase(Database),
    /// A copy needs a new file.
    #[error("{} already exists", .0.display())]
    AlreadyThere(PathBuf),
    /// What is on a server is restored there.
    #[error("the database {0} is on a server")]
    OnServer(Database),
    /// There is no backup.
    #[error("no backup of this repository's database was found")]
    NoBackup,
    /// The backup has other repositories.
    #[error("{} is a backup of other repositories: it has no record of {}", backup.display(), root.display())]
    OfOthers { backup: PathBuf, root: PathBuf },
    /// The folder of a project has not moved.
    #[error("project {project} is still at {}", root.display())]
    StillThere { project: ProjectId, root: PathBuf },
    /// A folder is not the project's.
    #[error("{} is not the repository of project {project}", root.display())]
    AnotherRepository { root: PathBuf, project: ProjectId },
}

/// Names what would be done; without a backup the database would begin empty.
fn replacing(backup: Option<&Path>) -> String {
    match backup {
        Some(backup) => format!("replacing it with {}", backup.display()),
        None => "replacing it with an empty one".to_owned(),
    }
}
