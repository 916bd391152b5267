//! A person's home in a folder, and starting programs as that person, and in a sandbox.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use symphony_sandbox::{
    Home, Level, Machine, Network, PROCESSES, Programs, Sandbox, TMP_BYTES, Tools, ToolsRequest,
};

/// A person with a home, and a checkout beside it.
pub(crate) struct Person {
    folder: tempfile::TempDir,
    environment: BTreeMap<OsString, OsString>,
}

/// Returns whether a program is in the search path.
pub(crate) fn has(program: &str) -> bool {
    find(program).is_some()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

impl Person {
    pub(crate) fn new() -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let base = folder.path().canonicalize()?;
        for name in ["home/.ssh", "checkout"] {
            fs::create_dir_all(base.join(name))?;
        }
        let mut environment: BTreeMap<OsString, OsString> = ["PATH", "PYENV_ROOT"]
            .into_iter()
            .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
            .collect();
        // The toolchains are the machine's; where their managers look for them without a variable is another home.
        let home = std::env::var_os("HOME").ok_or("HOME is not set")?;
        let rustup = std::env::var_os("RUSTUP_HOME")
            .unwrap_or_else(|| Path::new(&home).join(".rustup").into_os_string());
        environment.extend([
            ("RUSTUP_HOME".into(), rustup),
            ("HOME".into(), base.join("home").into_os_string()),
            ("LANG".into(), "C.UTF-8".into()),
            // modules that an ordinary user can remove
            ("GOFLAGS".into(), "-modcacherw".into()),
            ("GOTOOLCHAIN".into(), "local".into()),
            ("npm_config_update_notifier".into(), "false".into()),
        ]);
        Ok(Self {
            folder,
            environment,
        })
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        let base = self.folder.path().canonicalize();
        base.expect("the folder is there").join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) -> Result<(), Failed> {
        let path = self.path(below);
        fs::create_dir_all(path.parent().ok_or("no parent")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Runs a program in the checkout as the person would.
    pub(crate) fn outside(&self, program: &str, words: &[&str]) -> Result<String, Failed> {
        let mut command = Command::new(program);
        command
            .args(words)
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.path("checkout"));
        run(command)
    }

    /// Runs a program in the checkout in a new sandbox without a network.
    pub(crate) fn inside(
        &self,
        level: Level,
        program: &str,
        words: &[&str],
    ) -> Result<String, Failed> {
        let own = tempfile::tempdir()?;
        for name in ["home", "tmp"] {
            fs::create_dir(own.path().join(name))?;
        }
        let home = Home {
            path: self.path("home"),
            folder: own.path().join("home"),
        };
        let inside = match level {
            Level::Landlock => &home.folder,
            Level::Off | Level::Namespace => &home.path,
        };
        let checkout = self.path("checkout");
        let tools = Tools::observe(&ToolsRequest {
            level,
            environment: &self.environment,
            home: &home.path,
            inside,
            programs: &[],
            hidden: std::slice::from_ref(&checkout),
            cached_for: Some(&checkout),
        });
        let sandbox = Sandbox {
            level,
            directory: checkout.clone(),
            home,
            temporary: own.path().join("tmp"),
            read: tools.read.clone(),
            shown: tools.shown.clone(),
            write: vec![checkout],
            moved: None,
            sockets: Vec::new(),
            network: Network::Own,
            resolver: None,
            hosts: None,
            forwards: Vec::new(),
            tmp_bytes: TMP_BYTES,
            processes: PROCESSES,
        };
        let programs = Programs {
            symphony: std::env::current_exe()?,
            bwrap: "bwrap".into(),
        };
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let (started, arguments) = sandbox.command(
            &Machine::observe(),
            &programs,
            None,
            OsStr::new(program),
            &words,
        )?;
        tools.furnish(&sandbox.home.folder)?;
        let mut command = Command::new(started);
        command
            .args(arguments)
            .env_clear()
            .envs(&self.environment)
            .envs(sandbox.environment())
            .current_dir(&sandbox.directory);
        for (name, value) in &tools.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        run(command)
    }

    /// Returns every file and folder below one of the home, with what would change if it were written.
    pub(crate) fn state_of(&self, below: &str) -> Result<String, Failed> {
        self.outside(
            "find",
            &[
                "../home",
                "-path",
                &format!("../home/{below}*"),
                "-printf",
                "%p %y %s %T@ %C@\\n",
            ],
        )
    }
}

fn run(mut command: Command) -> Result<String, Failed> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!(
        "{}: {}\n{}{}",
        command.get_program().display(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
    .into())
}
