//! Go's downloads: the folder has the form of a proxy for modules, so Go asks it first. Go checks what it gets from there against `go.sum`.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Where Go looks when nothing is set.
const DEFAULT: &str = "https://proxy.golang.org,direct";

/// Returns the value of `GOPROXY`: the user's downloads, then what was set.
pub(super) fn proxies(downloads: &Path, set: Option<&OsStr>) -> OsString {
    let mut text = String::from("file://");
    for &byte in downloads.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string can be written to");
        }
    }
    text.push(',');
    let mut all = OsString::from(text);
    all.push(
        set.filter(|set| !set.is_empty())
            .unwrap_or(OsStr::new(DEFAULT)),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_downloads_come_first() {
        for (downloads, set, expected) in [
            ("/go", None, "file:///go,https://proxy.golang.org,direct"),
            (
                "/go",
                Some(""),
                "file:///go,https://proxy.golang.org,direct",
            ),
            ("/go", Some("off"), "file:///go,off"),
            (
                "/my go,%",
                Some("https://p|direct"),
                "file:///my%20go%2C%25,https://p|direct",
            ),
        ] {
            assert_eq!(proxies(Path::new(downloads), set.map(OsStr::new)), expected);
        }
    }
}
