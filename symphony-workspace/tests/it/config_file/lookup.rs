//! Which files are found.

use std::ffi::OsStr;
use std::path::Path;

use symphony_workspace::config_file::{
    CONFIG_FILE_NAME, ConfigFileError, ConfigPaths, ConfigSearch, find_upward, load,
};
use tempfile::tempdir;

use super::{shown, write};

#[test]
fn the_flag_wins_over_the_variable_and_an_empty_variable_is_unset() {
    let home = Some(Path::new("/home/u"));
    let current = Path::new("/src");
    for (flag, variable, explicit) in [
        (Some("a.json"), Some("/b.json"), Some("/src/a.json")),
        (None, Some("/b.json"), Some("/b.json")),
        (None, Some(""), None),
        (None, None, None),
    ] {
        let paths = ConfigPaths::new(flag.map(Path::new), variable.map(OsStr::new), home, current);
        assert_eq!(paths.explicit.as_deref(), explicit.map(Path::new));
        assert_eq!(
            paths.global.as_deref(),
            Some(Path::new("/home/u/.config/symphony/config.json"))
        );
    }
}

#[test]
fn the_nearest_file_upward_is_found() {
    let folder = tempdir().unwrap();
    let above = folder.path().join(CONFIG_FILE_NAME);
    let root = folder.path().join("ein Projekt ü/api");
    write(&above, "{}");
    write(&root.join("README"), "");
    let found = |file: &Path| ConfigSearch {
        file: Some(file.to_path_buf()),
        skipped: Vec::new(),
    };
    assert_eq!(find_upward(&root).unwrap(), found(&above));
    write(&root.join(CONFIG_FILE_NAME), "{}");
    assert_eq!(
        find_upward(&root).unwrap(),
        found(&root.join(CONFIG_FILE_NAME))
    );
}

#[test]
fn a_file_that_was_named_must_be_a_readable_text() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("latin.json"), "");
    std::fs::write(at("latin.json"), b"{\"model\": \"\xe4\"}").unwrap();
    write(&at("big.json"), &" ".repeat((1 << 20) + 1));
    std::fs::create_dir(at("folder.json")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    for (name, message) in [
        ("none.json", "there is no configuration file DIR/none.json"),
        ("latin.json", "DIR/latin.json is not UTF-8 at byte 11"),
        (
            "big.json",
            "DIR/big.json has 1048577 bytes; expected at most 1048576",
        ),
        ("folder.json", "DIR/folder.json is not a regular file"),
        ("pipe.json", "DIR/pipe.json is not a regular file"),
    ] {
        let paths = ConfigPaths {
            explicit: Some(at(name)),
            ..ConfigPaths::default()
        };
        let error = load(&paths, folder.path()).unwrap_err();
        assert_eq!(shown(&error, folder.path()), message);
        assert_eq!(error.problems(), []);
    }
    let paths = ConfigPaths {
        explicit: Some(at("none.json")),
        ..ConfigPaths::default()
    };
    assert!(matches!(
        load(&paths, folder.path()),
        Err(ConfigFileError::NotFound { .. })
    ));
}
