//! The patterns by which workspaces name their members: `packages/*`, `apps/**`, `!packages/old`.

/// Returns whether a folder is a member: a pattern matches, and no later one excludes it again.
pub(super) fn is_member(patterns: &[String], folder: &str) -> bool {
    let mut member = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(excluded) if fits(excluded, folder) => member = false,
            None if fits(pattern, folder) => member = true,
            _ => {}
        }
    }
    member
}

fn fits(pattern: &str, folder: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let parts: Vec<&str> = pattern.split('/').collect();
    let folders: Vec<&str> = folder.split('/').collect();
    fits_parts(&parts, &folders)
}

/// Compares part by part; `**` takes any number of parts. Bounded by the depth of folders.
fn fits_parts(pattern: &[&str], folders: &[&str]) -> bool {
    match (pattern.split_first(), folders.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            fits_parts(rest, folders)
                || folders
                    .split_first()
                    .is_some_and(|(_, below)| fits_parts(pattern, below))
        }
        (Some((part, rest)), Some((name, below))) => {
            fits_name(part, name) && fits_parts(rest, below)
        }
        _ => false,
    }
}

/// Compares a name with a pattern that may have one or more `*`.
fn fits_name(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_what_a_pattern_names() {
        let table: &[(&[&str], &str, bool)] = &[
            (&["packages/*"], "packages/a", true),
            (&["packages/*"], "packages/a/b", false),
            (&["./packages/*/"], "packages/a", true),
            (&["packages/**"], "packages/a/b", true),
            (&["packages/*", "!packages/old"], "packages/old", false),
            (&["web"], "web", true),
            (&["web"], "website", false),
            (&["apps/app-*-x"], "apps/app-1-x", true),
            (&["apps/app-*-x"], "apps/app-1-y", false),
            (&["*"], "web", true),
            (&[], "web", false),
        ];
        for (patterns, folder, expected) in table {
            let patterns: Vec<String> = patterns.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(
                is_member(&patterns, folder),
                *expected,
                "{patterns:?} {folder}"
            );
        }
    }
}
