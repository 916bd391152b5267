//! The copy of a login in a sandbox's home, and the user's file, kept the same.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use symphony_workspace::{read_own_text, read_text, write_private};

use super::decide::{Step, decide};
use crate::provider::AgentCli;

/// Largest file of a login that is copied, in bytes.
const LOGIN_BYTES_MAX: usize = 256 * 1024;
/// The lock beside the user's file, so that of several runs one writes at a time.
const LOCK: &str = ".symphony-login.lock";

/// The copy of a login in a sandbox's home.
#[derive(Debug)]
pub(crate) struct LoginCopy {
    cli: &'static AgentCli,
    outside: PathBuf,
    /// The folder of the copy, held open: an agent may put a link in its place.
    folder: File,
    /// The document that both had last.
    known: Value,
    /// How both files looked when they were read last.
    seen: [Option<Look>; 2],
}

/// What shows that a file was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Look {
    fn at(path: &Path) -> Option<Self> {
        let look = |metadata: Metadata| Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        };
        path.symlink_metadata().map(look).ok()
    }
}

impl LoginCopy {
    /// Copies the login that an environment leads to into an empty home; `None` if there is none.
    ///
    /// # Errors
    /// When the copy cannot be written.
    pub(crate) fn hand_in(
        cli: &'static AgentCli,
        environment: &BTreeMap<OsString, OsString>,
        home: &Path,
    ) -> io::Result<Option<Self>> {
        let variable = |name: &str| environment.get(OsStr::new(name)).cloned();
        // a link is followed once, so that the file is replaced and not the link
        let path = cli.credentials.path(variable);
        let Some(outside) = path.and_then(|path| path.canonicalize().ok()) else {
            return Ok(None);
        };
        let Some((text, known)) = read_text(&outside).ok().and_then(document) else {
            return Ok(None);
        };
        let folder = home.join(cli.credentials.folder);
        DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&folder)?;
        let mut copy = Self {
            cli,
            outside,
            folder: File::open(&folder)?,
            known,
            seen: [None; 2],
        };
        write(&copy.inside(), &text)?;
        copy.seen = copy.look();
        Ok(Some(copy))
    }

    /// Brings a login that was refreshed on one side to the other. Cheap where nothing was written.
    pub(crate) fn keep_same(&mut self) {
        if self.look() == self.seen {
            return;
        }
        if let Err(error) = self.exchange() {
            tracing::warn!(file = %self.outside.display(), %error, "a refreshed login was not taken over");
        }
        self.seen = self.look();
    }

    fn exchange(&mut self) -> io::Result<()> {
        let lock = self.outside.with_file_name(LOCK);
        let lock = File::options().create(true).append(true).open(lock)?;
        // held until the end of this function; whoever holds it does no more than this
        flock(&lock, FlockOperation::LockExclusive)?;
        let read = |text: io::Result<String>| Some(text.ok().and_then(document)?.1);
        let outside = read(read_text(&self.outside));
        let inside = read(read_own_text(&self.inside()));
        match decide(
            &self.cli.api,
            &self.known,
            outside.as_ref(),
            inside.as_ref(),
        ) {
            Step::Nothing => {}
            Step::WriteBack(document) => {
                write(&self.outside, &format!("{document}\n"))?;
                self.known = document;
            }
            Step::HandIn(document) => {
                write(&self.inside(), &format!("{document}\n"))?;
                self.known = document;
            }
            Step::Refuse => {
                return Err(io::Error::other(
                    "it is of another account, or not in the form of the one before",
                ));
            }
        }
        Ok(())
    }

    fn inside(&self) -> PathBuf {
        let folder = format!("/proc/self/fd/{}", self.folder.as_raw_fd());
        Path::new(&folder).join(self.cli.credentials.file)
    }

    fn look(&self) -> [Option<Look>; 2] {
        [Look::at(&self.outside), Look::at(&self.inside())]
    }
}

impl Drop for LoginCopy {
    fn drop(&mut self) {
        self.keep_same();
    }
}

/// Reads a document that is no larger than a login is.
fn document(text: String) -> Option<(String, Value)> {
    if text.len() > LOGIN_BYTES_MAX {
        return None;
    }
    let value = serde_json::from_str(&text).ok()?;
    Some((text, value))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    write_private(path, text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use serde_json::json;
    use symphony_core::config::ProviderName;

    use super::*;
    use crate::provider::agent_cli;

    fn login(token: &str) -> Value {
        json!({ "claudeAiOauth": { "accessToken": token, "refreshToken": "r", "expiresAt": 1 } })
    }

    fn set(path: &Path, document: &Value) {
        // another file in its place, as the CLI writes it
        let other = path.with_extension("new");
        fs::write(&other, document.to_string()).unwrap();
        fs::rename(other, path).unwrap();
    }

    fn get(path: &Path) -> Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    /// A user's home with a login, and homes of sandboxes.
    struct Homes(tempfile::TempDir);

    impl Homes {
        fn new() -> Self {
            let homes = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(homes.path("user/.claude")).unwrap();
            set(&homes.user(), &login("old"));
            homes
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn user(&self) -> PathBuf {
            self.path("user/.claude/.credentials.json")
        }

        fn inside(&self, name: &str) -> PathBuf {
            self.path(name).join(".claude/.credentials.json")
        }

        fn hand_in(&self, name: &str) -> Option<LoginCopy> {
            fs::create_dir_all(self.path(name)).unwrap();
            let environment = [("HOME".into(), self.path("user").into())].into();
            let cli = agent_cli(ProviderName::ClaudeCli).unwrap();
            LoginCopy::hand_in(cli, &environment, &self.path(name)).unwrap()
        }
    }

    #[test]
    fn a_refresh_reaches_the_user_and_other_runs() {
        let homes = Homes::new();
        let (mut one, mut two) = (homes.hand_in("one").unwrap(), homes.hand_in("two").unwrap());
        assert_eq!(get(&homes.inside("one")), login("old"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&homes.inside("one")), 0o600);
        set(&homes.inside("one"), &login("new"));
        one.keep_same();
        assert_eq!(get(&homes.user()), login("new"));
        assert_eq!(mode(&homes.user()), 0o600);
        two.keep_same();
        assert_eq!(get(&homes.inside("two")), login("new"));
        // the end of a run counts as well
        set(&homes.inside("two"), &login("newer"));
        drop(two);
        assert_eq!(get(&homes.user()), login("newer"));
    }

    #[test]
    fn links_of_an_agent_lead_nowhere() {
        let homes = Homes::new();
        let mut copy = homes.hand_in("one").unwrap();
        let victim = homes.path("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(
            victim.join(".credentials.json"),
            login("planted").to_string(),
        )
        .unwrap();
        // in the place of the file
        fs::remove_file(homes.inside("one")).unwrap();
        symlink(victim.join(".credentials.json"), homes.inside("one")).unwrap();
        copy.keep_same();
        assert_eq!(get(&homes.user()), login("old"));
        // in the place of the folder, and the user logs in again
        fs::rename(homes.path("one/.claude"), homes.path("one/moved")).unwrap();
        symlink(&victim, homes.path("one/.claude")).unwrap();
        set(&homes.user(), &login("new"));
        copy.keep_same();
        assert_eq!(get(&victim.join(".credentials.json")), login("planted"));
        assert_eq!(
            get(&homes.path("one/moved/.credentials.json")),
            login("new")
        );
    }

    #[test]
    fn a_linked_login_stays_a_link_and_one_that_is_gone_stays_gone() {
        let homes = Homes::new();
        fs::rename(homes.user(), homes.path("login.json")).unwrap();
        symlink(homes.path("login.json"), homes.user()).unwrap();
        let mut copy = homes.hand_in("one").unwrap();
        set(&homes.inside("one"), &login("new"));
        copy.keep_same();
        assert!(homes.user().is_symlink());
        assert_eq!(get(&homes.path("login.json")), login("new"));
        fs::remove_file(homes.path("login.json")).unwrap();
        set(&homes.inside("one"), &login("newer"));
        drop(copy);
        assert!(!homes.path("login.json").exists());
    }

    #[test]
    fn what_is_no_login_is_not_handed_in() {
        let homes = Homes::new();
        fs::write(homes.user(), "{").unwrap();
        assert!(homes.hand_in("one").is_none());
        fs::remove_file(homes.user()).unwrap();
        assert!(homes.hand_in("two").is_none());
    }
}
