//! The variables that say where toolchains and caches are, inside. Pure.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables that name folders that tools write to, and where these are in the home of a sandbox. Without a variable, each tool uses
/// a folder in the home by itself.
const WRITTEN: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("COREPACK_HOME", ".cache/node/corepack"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("GOPATH", "go"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("UV_CACHE_DIR", ".cache/uv"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The folder with the sockets of a person's session.
const RUNTIME: &str = "XDG_RUNTIME_DIR";

/// A toolchain's folder that can be read inside, under the variable that names it.
pub(super) type Located = (&'static str, PathBuf);

/// Returns the variables that differ inside; `None` removes one.
///
/// `inside` is the home in the sandbox, `located` are toolchains that tools would look for in it.
pub(super) fn variables(
    environment: &BTreeMap<OsString, OsString>,
    inside: &Path,
    located: &[Located],
) -> BTreeMap<OsString, Option<OsString>> {
    let set = |name: &str| environment.get(OsStr::new(name));
    let mut all = BTreeMap::new();
    for (name, below) in WRITTEN {
        if set(name).is_some() {
            all.insert(name.into(), Some(inside.join(below).into_os_string()));
        }
    }
    if set(RUNTIME).is_some() {
        all.insert(RUNTIME.into(), None);
    }
    for (name, folder) in located {
        let written = WRITTEN.iter().any(|(written, _)| written == name);
        if !written && set(name).is_none() {
            all.insert(name.into(), Some(folder.clone().into_os_string()));
        }
    }
    // The home and the checkout are different mounts, so uv's links fail and it warns at each call.
    if set("UV_LINK_MODE").is_none() {
        all.insert("UV_LINK_MODE".into(), Some("copy".into()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_write_into_the_home_of_the_sandbox() {
        let inside = |environment: &[(&str, &str)], located: &[Located]| {
            let environment = environment
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect();
            let all = variables(&environment, Path::new("/home/ada"), located);
            let texts = all.into_iter().map(|(name, value)| {
                let value = value.unwrap_or_else(|| "(removed)".into());
                format!("{}={}", name.display(), value.display())
            });
            texts
                .filter(|text| !text.starts_with("UV_LINK_MODE"))
                .collect::<Vec<_>>()
        };
        let rustup = [("RUSTUP_HOME", PathBuf::from("/home/ada/.rustup"))];
        for (environment, located, expected) in [
            (&[][..], &[][..], &[][..]),
            (
                &[("CARGO_HOME", "/data/cargo")],
                &[],
                &["CARGO_HOME=/home/ada/.cargo"],
            ),
            (
                &[("XDG_RUNTIME_DIR", "/run/user/1000")],
                &[],
                &["XDG_RUNTIME_DIR=(removed)"],
            ),
            (&[], &rustup, &["RUSTUP_HOME=/home/ada/.rustup"]),
            (&[("RUSTUP_HOME", "/data/rustup")], &rustup, &[]),
        ] {
            let expected: &[&str] = expected;
            assert_eq!(inside(environment, located), expected, "{environment:?}");
        }
    }
}
