//! Ways to read the stretches of a text.

/// Which stretches of texts are looked at.
pub(crate) trait Stretches {
    /// Calls `each` with hash and place of every such stretch of a text.
    fn for_each(&mut self, text: &[u8], each: impl FnMut(u32, usize));
}
