//! A git that does something of a test's before it does what it was asked for.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::Project;

/// Puts a git into the search path of a project's commands, which runs `before` in a shell first; returns that search path.
pub(crate) fn git_in_front(project: &mut Project, before: &str) -> String {
    let folder = project.beside.join("git in front");
    std::fs::create_dir(&folder).unwrap();
    let path = std::env::var("PATH").unwrap();
    let program = folder.join("git");
    let script = format!("#!/bin/sh\nPATH='{path}'; export PATH\n{before}\nexec git \"$@\"\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:{path}", folder.display());
    project.set_variable("PATH", &search);
    search
}
