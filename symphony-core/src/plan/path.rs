//! Paths that plans and agents name: relative to the project and inside it, by their text alone.
//!
//! Links are not checked here: a path that passes is still opened beneath the project's folder.

/// Longest path that is accepted, in bytes (Linux: `PATH_MAX`).
pub const PATH_BYTES_MAX: usize = 4_096;

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// Nothing is named.
    #[error("the path is empty")]
    Empty,
    /// It leaves the project, or could.
    #[error("the path is outside the project")]
    Outside,
    /// It holds a line break or another control character.
    #[error("the path contains a control character")]
    Control,
    /// It is longer than [`PATH_BYTES_MAX`].
    #[error("the path is longer than {PATH_BYTES_MAX} bytes")]
    TooLong,
}

/// Normalizes a path to the form `a/b.rs`: relative to the project, without `.` and `..`.
///
/// A path below `root`, the absolute path of the project, counts as relative to it.
///
/// # Errors
/// When the path is empty, is the project itself, or leaves it.
pub fn normalise_path(path: &str, root: Option<&str>) -> Result<String, PathRefusal> {
    let path = plain(path)?;
    let inside = root.and_then(|root| {
        let root = root.trim_end_matches('/');
        path.strip_prefix(root)?.strip_prefix('/')
    });
    let relative = inside.unwrap_or(path);
    if is_absolute(relative) {
        return Err(PathRefusal::Outside);
    }
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(PathRefusal::Outside)?;
            }
            _ => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Err(PathRefusal::Empty);
    }
    let normal = parts.join("/");
    // what `.` and `..` hid: `./~/a` would be read as a home the next time
    if is_absolute(&normal) || normal != normal.trim() {
        return Err(PathRefusal::Outside);
    }
    Ok(normal)
}

/// Checks that a path or glob stays inside the project, whatever it matches.
///
/// # Errors
/// When it is empty or may leave the project.
pub fn check_pattern(pattern: &str) -> Result<(), PathRefusal> {
    let pattern = plain(pattern)?;
    if is_absolute(pattern) {
        return Err(PathRefusal::Outside);
    }
    if pattern.contains('{') {
        // an alternative may be `..` at any depth, or begin at the root, or leave nothing before a `/`
        const ROOTED: [&str; 6] = ["{/", ",/", "{,", ",,", ",}", "{}"];
        let climbs = pattern
            .split(['/', '{', ',', '}'])
            .any(|piece| piece == "..");
        let is_rooted =
            pattern.starts_with('{') && ROOTED.iter().any(|start| pattern.contains(start));
        if climbs || is_rooted {
            return Err(PathRefusal::Outside);
        }
    }
    let mut depth = 0_usize;
    for part in pattern.split('/') {
        match part {
            // `**` may match no folder at all.
            "" | "." | "**" => {}
            ".." => depth = depth.checked_sub(1).ok_or(PathRefusal::Outside)?,
            _ => depth += 1,
        }
    }
    Ok(())
}

fn plain(path: &str) -> Result<&str, PathRefusal> {
    let path = path.trim();
    if path.is_empty() {
        Err(PathRefusal::Empty)
    } else if path.len() > PATH_BYTES_MAX {
        Err(PathRefusal::TooLong)
    } else if path.chars().any(char::is_control) {
        Err(PathRefusal::Control)
    } else {
        Ok(path)
    }
}

/// A root, a home or a drive: none of them is relative to the project.
fn is_absolute(path: &str) -> bool {
    let is_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    path.starts_with(['/', '\\']) || path == "~" || path.starts_with("~/") || is_drive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_relative_or_refused() {
        let root = Some("/home/u/app/");
        for (path, expected) in [
            ("src/a.rs", Ok("src/a.rs")),
            (" ./src//b/../a.rs ", Ok("src/a.rs")),
            ("/home/u/app/src/a.rs", Ok("src/a.rs")),
            ("/home/u/application/a.rs", Err(PathRefusal::Outside)),
            ("/home/u/app/../x", Err(PathRefusal::Outside)),
            ("/home/u/app", Err(PathRefusal::Outside)),
            ("../a", Err(PathRefusal::Outside)),
            ("a/../../b", Err(PathRefusal::Outside)),
            ("~/.ssh/id", Err(PathRefusal::Outside)),
            ("~", Err(PathRefusal::Outside)),
            ("C:\\x", Err(PathRefusal::Outside)),
            ("\\\\server\\x", Err(PathRefusal::Outside)),
            ("a/..", Err(PathRefusal::Empty)),
            (".", Err(PathRefusal::Empty)),
            ("", Err(PathRefusal::Empty)),
            ("a\nb", Err(PathRefusal::Control)),
            ("~a/b", Ok("~a/b")),
            ("...", Ok("...")),
            ("a/~/b", Ok("a/~/b")),
            // what reads otherwise once more
            ("./~/b", Err(PathRefusal::Outside)),
            ("a/../~", Err(PathRefusal::Outside)),
            ("./C:", Err(PathRefusal::Outside)),
            ("./ ..", Err(PathRefusal::Outside)),
        ] {
            assert_eq!(
                normalise_path(path, root),
                expected.map(str::to_owned),
                "{path}"
            );
        }
        let long = "a".repeat(PATH_BYTES_MAX + 1);
        assert_eq!(normalise_path(&long, None), Err(PathRefusal::TooLong));
    }

    #[test]
    fn patterns_that_may_lead_out_are_refused() {
        for (pattern, expected) in [
            ("src/**/*.rs", Ok(())),
            ("{src,tests}/*.rs", Ok(())),
            ("a/../b", Ok(())),
            ("*/../a", Ok(())),
            ("a..b/..c", Ok(())),
            ("**/../a", Err(PathRefusal::Outside)),
            ("a/{b,../..}/c", Err(PathRefusal::Outside)),
            ("{a,/etc}/*", Err(PathRefusal::Outside)),
            ("{a,}/etc", Err(PathRefusal::Outside)),
            ("{a/b,c}/../..", Err(PathRefusal::Outside)),
            ("src/{a,}/b", Ok(())),
            ("{..,a}/x", Err(PathRefusal::Outside)),
            ("/etc/*", Err(PathRefusal::Outside)),
            ("../*", Err(PathRefusal::Outside)),
            ("*/../..", Err(PathRefusal::Outside)),
            (" ", Err(PathRefusal::Empty)),
        ] {
            assert_eq!(check_pattern(pattern), expected, "{pattern}");
        }
    }
}
