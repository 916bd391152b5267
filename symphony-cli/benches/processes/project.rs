//! Repositories with Symphony set up in them, and homes of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self::of_user("{}")
    }

    /// Sets a project up for a user with a configuration.
    pub(crate) fn of_user(config: &str) -> Self {
        // where the target folder is: a folder of the system may be memory, which no disk is
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path().join("project");
        let own = folder.path().join("home/.config/symphony");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("config.json"), config).unwrap();
        std::fs::create_dir(&root).unwrap();
        let project = Self { root, folder };
        project.git(&["init", "-q", "-b", "main"]);
        std::fs::write(project.root.join("README.md"), "# A project\n").unwrap();
        project.git(&["add", "."]);
        project.git(&["commit", "-q", "-m", "begin"]);
        project.ok(&["init", "--prefix", "BEN", "--sandbox", "off"]);
        project
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join(".symphony/symphony.db")
    }

    /// The command `symphony` in the project, with nothing of the machine's own settings.
    pub(crate) fn symphony(&self, arguments: &[&str]) -> Command {
        let mut command = self.clean(Path::new(env!("CARGO_BIN_EXE_symphony")));
        command.args(arguments);
        command
    }

    /// A command in the project with a clean environment.
    pub(crate) fn clean(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"));
        command
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> Output {
        let output = self.symphony(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:#?}");
        output
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"];
        let mut git = self.clean(Path::new("git"));
        let output = git.args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:#?}");
    }
}
