//! The detected technology of a project.

/// Longest name or description, in characters: they are in every prompt.
const TEXT_CHARS_MAX: usize = 500;

/// What a project is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetectedProject {
    /// The name in the first manifest that has one, else the one it was given, or the folder's.
    pub name: String,
    /// The description in the first manifest that has one.
    pub description: String,
    /// Pairs such as `("Language", "rust")`: runtime, language, framework (`None` when there is none), UI, testing,
    /// database, build, package manager. Empty when no manifest is known.
    pub tech_stack: Vec<(String, String)>,
    /// Habits that follow from the stack.
    pub patterns: Vec<String>,
}

/// Makes one line of bounded length of a text in a manifest.
pub(super) fn shortened(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").chars().take(TEXT_CHARS_MAX).collect()
}
