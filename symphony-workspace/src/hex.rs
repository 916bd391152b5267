//! Bytes as hexadecimal digits.

use std::fmt::Write;

/// Writes bytes as lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}
