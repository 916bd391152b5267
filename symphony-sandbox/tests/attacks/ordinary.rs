//! Starting the tests again as an ordinary user.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Command, ExitCode};

/// The user `nobody` on every Linux.
const NOBODY: u32 = 65534;

/// Runs this program again as an ordinary user when it runs as root; returns how that ended.
///
/// It runs a copy in a folder that the user reaches, since the build's folder may be below root's home.
pub(crate) fn again_as_an_ordinary_user() -> Option<ExitCode> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let set_up = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
        chown(path, Some(NOBODY), Some(NOBODY)).expect("its owner");
    };
    set_up(folder.path());
    let copy = folder.path().join("attacks");
    let own = std::env::current_exe().expect("the path of this program");
    fs::copy(own, &copy).expect("a copy of this program");
    set_up(&copy);
    let status = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .args(["--inh-caps=-all", "--bounding-set=-all"])
        .arg(&copy)
        .args(std::env::args_os().skip(1))
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .status()
        .expect("setpriv starts");
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
