//! Which of what was found is shown in a sandbox. Pure.

use std::path::{Path, PathBuf};

use super::found::Found;
use crate::layout::is_in_system;

/// Files and folders below the home with keys, with what a person wrote or read, or with settings that may hold either.
/// Neither they nor a folder with one of them is shown.
const PRIVATE: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".bundle/config",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".claude.json",
    ".codex",
    ".config/gcloud",
    ".config/gh",
    ".config/git",
    ".config/glab-cli",
    ".config/mise",
    ".config/pip",
    ".config/uv",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gitconfig",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/gem/credentials",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pypirc",
    ".ssh",
    ".yarnrc.yml",
    ".zsh_history",
];

/// Folders below the home that belong to many programs. They are not shown as a whole.
const SHARED: &[&str] = &[
    ".cache",
    ".config",
    ".local",
    ".local/share",
    ".local/state",
    ".var",
    "snap",
];

/// Folders of the machine that are not a toolchain's, whatever a variable says. What is below the last two may be one's.
const NEVER_BELOW: &[&str] = &["/dev", "/proc", "/sys"];
const NEVER: &[&str] = &["/run", "/run/user", "/tmp", "/var", "/var/tmp"];

/// What is kept from a sandbox.
#[derive(Debug)]
pub(super) struct Hidden<'a> {
    /// The paths of the user's home, with and without links.
    pub(super) homes: &'a [PathBuf],
    /// Folders that an agent can write or must not read.
    pub(super) places: &'a [PathBuf],
}

impl Hidden<'_> {
    /// Returns whether a path may be shown: it is not hidden, is in nothing hidden, and has nothing hidden in it.
    pub(super) fn allows(&self, path: &Path) -> bool {
        let apart = |hidden: &Path| !path.starts_with(hidden) && !hidden.starts_with(path);
        let of_home = |home: &PathBuf| match path.strip_prefix(home) {
            Ok(below) => {
                let apart = |name: &Path| !below.starts_with(name) && !name.starts_with(below);
                PRIVATE.iter().all(|name| apart(Path::new(name)))
                    && SHARED.iter().all(|name| below != Path::new(name))
            }
            // whatever is around the home has all of it
            Err(_) => !home.starts_with(path),
        };
        path.is_absolute()
            && self.homes.iter().all(of_home)
            && self.places.iter().all(|place| apart(place))
            && NEVER_BELOW.iter().all(|place| apart(Path::new(place)))
            && NEVER.iter().all(|place| path != Path::new(place))
            && !is_in_run_of_a_user(path)
    }
}

/// `/run/user/1000` has the sockets of a person's session.
fn is_in_run_of_a_user(path: &Path) -> bool {
    path.parent() == Some(Path::new("/run/user"))
}

/// Returns what is shown, each path once, and nothing below another one.
pub(super) fn visible(found: &[Found], hidden: &Hidden<'_>) -> Vec<PathBuf> {
    let allowed = found
        .iter()
        .filter(|found| hidden.allows(&found.path) && hidden.allows(&found.real));
    let mut all: Vec<&Path> = allowed
        .flat_map(|found| [found.real.as_path(), found.path.as_path()])
        .filter(|path| !is_in_system(path))
        .collect();
    // A folder comes before what is in it.
    all.sort_unstable();
    let mut shown: Vec<PathBuf> = Vec::new();
    for path in all {
        if !shown.iter().any(|folder| path.starts_with(folder)) {
            shown.push(path.to_owned());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: &[(&str, &str)]) -> Vec<String> {
        let found: Vec<_> = found
            .iter()
            .map(|(path, real)| Found {
                path: path.into(),
                real: real.into(),
            })
            .collect();
        let hidden = Hidden {
            homes: &["/home/ada".into(), "/data/home/ada".into()],
            places: &[
                "/home/ada/.local/share/symphony".into(),
                "/work/shop".into(),
            ],
        };
        let paths = visible(&found, &hidden);
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    #[test]
    fn nothing_private_is_shown_and_nothing_around_it() {
        for path in [
            "/",
            "/home",
            "/home/ada",
            "/data/home/ada",
            "/data",
            "/home/ada/.ssh",
            "/home/ada/.ssh/bin",
            "/home/ada/.claude/local",
            "/home/ada/.codex/bin",
            "/home/ada/.gitconfig",
            "/home/ada/.cargo",
            "/home/ada/.cargo/credentials.toml",
            "/data/home/ada/.cargo",
            "/home/ada/.gem",
            "/home/ada/.config",
            "/home/ada/.config/gh",
            "/home/ada/.local",
            "/home/ada/.local/share",
            "/home/ada/.local/share/symphony/worktrees/shop-1/bin",
            "/work",
            "/work/shop",
            "/work/shop/node_modules/.bin",
            "/proc/1/root/bin",
            "/sys",
            "/tmp",
            "/run",
            "/run/user/1000",
            "bin",
        ] {
            assert_eq!(shown(&[(path, path)]), [""; 0], "{path}");
            // nor by a link
            let link = "/home/ada/tools/bin";
            assert_eq!(shown(&[(link, path)]), [""; 0], "a link to {path}");
        }
    }

    #[test]
    fn toolchains_are_shown_once() {
        for (found, expected) in [
            (
                &[("/home/ada/.cargo/bin", "/home/ada/.cargo/bin")][..],
                &["/home/ada/.cargo/bin"][..],
            ),
            (
                &[
                    ("/home/ada/.pyenv/shims", "/home/ada/.pyenv/shims"),
                    ("/home/ada/.pyenv", "/home/ada/.pyenv"),
                    ("/home/ada/.pyenv", "/home/ada/.pyenv"),
                ],
                &["/home/ada/.pyenv"],
            ),
            (
                &[(
                    "/home/ada/.nvm/current/bin",
                    "/home/ada/.nvm/versions/20/bin",
                )],
                &[
                    "/home/ada/.nvm/current/bin",
                    "/home/ada/.nvm/versions/20/bin",
                ],
            ),
            (
                &[("/home/ada/.local/bin/python3", "/usr/bin/python3.11")],
                &["/home/ada/.local/bin/python3"],
            ),
            (
                &[("/usr/bin", "/usr/bin"), ("/opt/x/bin", "/opt/x/bin")],
                &[],
            ),
            (
                &[("/run/user/1000/fnm/7/bin", "/data/node/bin")],
                &["/data/node/bin", "/run/user/1000/fnm/7/bin"],
            ),
        ] {
            assert_eq!(shown(found), expected, "{found:?}");
        }
    }
}
