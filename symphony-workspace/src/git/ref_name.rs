//! Names of refs.

/// Returns whether git allows this between two slashes of a ref's name (git-check-ref-format(1)). An end with a dot, which git
/// allows except at the end of the whole name, is refused as well.
pub(crate) fn is_ref_part(part: &[u8]) -> bool {
    let is_special = |byte: &u8| {
        byte.is_ascii_control()
            || matches!(byte, b' ' | b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\')
    };
    let has = |two: &[u8]| part.windows(2).any(|found| found == two);
    let is_odd = part.is_empty() || part.starts_with(b".") || part.ends_with(b".");
    let is_lock = part.ends_with(b".lock");
    !is_odd && !is_lock && !part.iter().any(is_special) && !has(b"..") && !has(b"@{")
}
