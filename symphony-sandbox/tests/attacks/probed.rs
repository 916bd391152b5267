//! The probe, on the machine that the rows run on.

use symphony_sandbox::{Bubblewrap, Level, LevelSetting, Programs, choose, probe};

/// Checks that the probe finds a working sandbox, and says why another bubblewrap is none.
pub(crate) fn check() -> Result<(), String> {
    let symphony = std::env::current_exe().map_err(|error| error.to_string())?;
    let facts = |bwrap: &str| {
        let programs = Programs {
            symphony: symphony.clone(),
            bwrap: bwrap.into(),
        };
        probe(&programs).map_err(|error| error.to_string())
    };
    let found = facts("/usr/bin/bwrap")?;
    if choose(LevelSetting::Exactly(Level::Namespace), &found) != Ok(Level::Namespace) {
        return Err(format!("the rows need `namespace`; found: {found:?}"));
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let script = folder.path().join("bwrap");
    for (text, expected) in [
        ("echo bubblewrap 0.4.0", "Old"),
        (
            "[ $1 = --version ] && echo bubblewrap 0.9.0 && exit 0; echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
            "Refused { version: \"0.9.0\", message: \"bwrap: setting up uid map: Permission denied\" }",
        ),
        // one that only looks like a sandbox
        (
            "[ $1 = --version ] && echo bubblewrap 0.9.0 && exit 0; while [ \"$1\" != -- ]; do shift; done; shift; \
             while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"",
            "Leaks { version: \"0.9.0\", what: \"a program could read a file outside\" }",
        ),
    ] {
        write_script(&script, text)?;
        let found = facts(&script.display().to_string())?.bubblewrap;
        if !format!("{found:?}").starts_with(expected) {
            return Err(format!("{text}: {found:?}"));
        }
    }
    match facts("/nonexistent/bwrap")?.bubblewrap {
        Bubblewrap::Missing => Ok(()),
        other => Err(format!("no program: {other:?}")),
    }
}

fn write_script(path: &std::path::Path, text: &str) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n"))
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)))
        .map_err(|error| error.to_string())
}
