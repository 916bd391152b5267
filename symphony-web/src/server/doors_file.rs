//! The file of sign-in links and sessions: they survive a restart, and `serve url` adds a link while a server runs.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_workspace::write_private;

use crate::access::{Doors, Secret, User};

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DoorsError {
    /// It cannot be read or written.
    #[error("the sessions in {} cannot be {action}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine has no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(io::Error),
}

/// The file, which only its owner can read. Writers take turns with a lock beside it.
#[derive(Debug, Clone)]
pub struct DoorsFile {
    path: PathBuf,
}

impl DoorsFile {
    /// Names the file of an installation in the folder of Symphony's state.
    pub fn of(state: &Path, installation: &str) -> Self {
        Self {
            path: state.join("web").join(format!("{installation}.json")),
        }
    }

    /// Reads it. A file that is not there, or that nobody can read any more, holds nobody: all sign in again.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read(&self) -> Result<Doors, DoorsError> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(path = %self.path.display(), %error, "the sessions are lost");
                Doors::default()
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Doors::default()),
            Err(error) => Err(self.error("read", error)),
        }
    }

    /// Adds a sign-in link, and returns its secret.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_link(&self, now: Timestamp) -> Result<Secret, DoorsError> {
        let secret = random_secret()?;
        self.change(|doors| doors.add_link(&secret, now))?;
        Ok(secret)
    }

    /// Uses a link up, and begins a session in the place of the one that the browser had; none where the link is not good.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn redeem(
        &self,
        link: &Secret,
        former: Option<&Secret>,
        now: Timestamp,
    ) -> Result<Option<Secret>, DoorsError> {
        let secret = random_secret()?;
        let is_good = self.change(|doors| {
            let is_good = doors.redeem(link, now);
            if is_good {
                former.inspect(|former| doors.end(former));
                doors.begin(&secret, None, now);
            }
            is_good
        })?;
        Ok(is_good.then_some(secret))
    }

    /// Begins the session of a configured user in the place of the one that the browser had.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(
        &self,
        user: &User,
        former: Option<&Secret>,
        now: Timestamp,
    ) -> Result<Secret, DoorsError> {
        let secret = random_secret()?;
        self.change(|doors| {
            former.inspect(|former| doors.end(former));
            doors.begin(&secret, Some(user.into()), now);
        })?;
        Ok(secret)
    }

    /// Ends a session.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn end(&self, session: &Secret) -> Result<(), DoorsError> {
        self.change(|doors| doors.end(session))
    }

    /// Returns the label of the installation's own host name. It is made once, so that a bookmark stays good.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn label(&self) -> Result<String, DoorsError> {
        let fresh = label_of(random_bytes()?);
        self.change(|doors| doors.label.get_or_insert(fresh).clone())
    }

    /// Remembers where the page is served: its address in a browser, and the port that it listens on.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note_address(&self, base: &str, listens: Option<SocketAddr>) -> Result<(), DoorsError> {
        self.change(|doors| {
            doors.address = Some(base.to_owned());
            doors.listens = listens;
        })
    }

    /// Returns where the page was served last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn address(&self) -> Result<Option<String>, DoorsError> {
        Ok(self.read()?.address)
    }

    /// Returns the port that the server listened on last; none where it was a socket file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn listens(&self) -> Result<Option<SocketAddr>, DoorsError> {
        Ok(self.read()?.listens)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Doors) -> T) -> Result<T, DoorsError> {
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        made.map_err(|error| self.error("written", error))?;
        let lock = self.path.with_extension("lock");
        let lock = File::options().create(true).append(true).open(lock);
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock));
        let _lock = lock.map_err(|error| self.error("locked", error))?;
        let mut doors = self.read()?;
        let before = doors.clone();
        let result = change(&mut doors);
        if doors != before {
            let text = serde_json::to_vec(&doors).unwrap_or_default();
            write_private(&self.path, text).map_err(|error| self.error("written", error))?;
        }
        Ok(result)
    }

    fn error(&self, action: &'static str, source: io::Error) -> DoorsError {
        DoorsError::Io {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

/// Writes 40 random bits as 8 letters and digits of a host name.
fn label_of(bytes: [u8; 8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let digits = bytes
        .iter()
        .filter_map(|byte| DIGITS.get(usize::from(byte % 32)));
    digits.map(|digit| char::from(*digit)).collect()
}

/// Makes a secret.
///
/// # Errors
/// When the machine has no random numbers.
pub fn random_secret() -> Result<Secret, DoorsError> {
    random_bytes().map(Secret::of_bytes)
}

fn random_bytes<const N: usize>() -> Result<[u8; N], DoorsError> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let count = rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty());
        filled += count.map_err(|error| DoorsError::Random(error.into()))?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use symphony_core::user::{UserName, UserRole};

    use super::*;

    #[test]
    fn a_link_signs_in_once_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millisecond(1_700_000_000_000).unwrap();
        let link = DoorsFile::of(folder.path(), "i").add_link(now).unwrap();
        let file = DoorsFile::of(folder.path(), "i");
        let session = file.redeem(&link, None, now).unwrap().unwrap();
        assert!(file.redeem(&link, None, now).unwrap().is_none());
        let file = DoorsFile::of(folder.path(), "i");
        assert!(file.read().unwrap().session(&session, now).is_some());
        let path = folder.path().join("web/i.json");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains(session.reveal()) && !text.contains(link.reveal()));
        file.end(&session).unwrap();
        assert!(file.read().unwrap().session(&session, now).is_none());
    }

    #[test]
    fn a_browser_has_one_session_and_only_a_good_link_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millisecond(1_700_000_000_000).unwrap();
        let file = DoorsFile::of(folder.path(), "i");
        let lasts = |session: &Secret| file.read().unwrap().session(session, now).is_some();
        let link = file.add_link(now).unwrap();
        let first = file.redeem(&link, None, now).unwrap().unwrap();
        assert!(file.redeem(&link, Some(&first), now).unwrap().is_none());
        assert!(lasts(&first), "a link that was used before");
        let ada = User {
            name: UserName::parse("ada").unwrap(),
            role: UserRole::Viewer,
            token: random_secret().unwrap().hash(),
        };
        let second = file.begin(&ada, Some(&first), now).unwrap();
        assert!(!lasts(&first) && lasts(&second));
        let link = file.add_link(now).unwrap();
        let third = file.redeem(&link, Some(&second), now).unwrap().unwrap();
        assert!(!lasts(&second) && lasts(&third));
    }

    #[test]
    fn the_label_of_the_host_name_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let label = DoorsFile::of(folder.path(), "i").label().unwrap();
        assert_eq!(DoorsFile::of(folder.path(), "i").label().unwrap(), label);
        assert_ne!(DoorsFile::of(folder.path(), "j").label().unwrap(), label);
        assert_eq!(label.len(), 8);
        assert!(label.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(label_of([0, 1, 31, 32, 255, 7, 8, 9]), "ab9a9hij");
    }

    #[test]
    fn a_broken_file_holds_nobody() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("web")).unwrap();
        fs::write(folder.path().join("web/i.json"), "{torn").unwrap();
        let file = DoorsFile::of(folder.path(), "i");
        assert_eq!(file.read().unwrap(), Doors::default());
        let now = Timestamp::from_millisecond(1_700_000_000_000).unwrap();
        assert!(file.add_link(now).is_ok());
    }
}
