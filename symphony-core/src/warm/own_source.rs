//! Folders of packages that hold a copy of the project's own source. A copy is as old as the folder, so it is never kept.

use serde::Deserialize;

/// What is known of how a package of Python was installed (PEP 610, `direct_url.json`).
#[derive(Debug, Deserialize)]
struct DirectUrl {
    url: String,
    dir_info: Option<DirInfo>,
}

#[derive(Debug, Deserialize)]
struct DirInfo {
    #[serde(default)]
    editable: bool,
}

/// Returns whether a package of Python was copied from a folder, by the text of its `direct_url.json`. One that cannot be read
/// counts as copied.
pub fn is_copied_by_python(direct_url: &str) -> bool {
    let Ok(DirectUrl { url, dir_info }) = serde_json::from_str(direct_url) else {
        return true;
    };
    url.starts_with("file:") && dir_info.is_some_and(|info| !info.editable)
}

/// Returns whether a `package.json` names a package that may be copied from a folder of the project.
pub fn is_copied_by_node(package_json: &str) -> bool {
    ["\"file:", "\"portal:"]
        .iter()
        .any(|word| package_json.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_was_copied_from_a_folder_is_known() {
        for (text, expected) in [
            (r#"{"url":"file:///symphony/api","dir_info":{}}"#, true),
            (
                r#"{"url":"file:///symphony/api","dir_info":{"editable":false}}"#,
                true,
            ),
            (
                r#"{"url":"file:///symphony/api","dir_info":{"editable":true}}"#,
                false,
            ),
            (
                r#"{"url":"file:///a/b.whl","archive_info":{"hash":"x"}}"#,
                false,
            ),
            (
                r#"{"url":"https://example.org/a.git","vcs_info":{"vcs":"git"}}"#,
                false,
            ),
            ("{", true),
            ("", true),
        ] {
            assert_eq!(is_copied_by_python(text), expected, "{text}");
        }
        for (text, expected) in [
            (r#"{"dependencies":{"a":"file:../a"}}"#, true),
            (r#"{"dependencies":{"a":"portal:./a"}}"#, true),
            (
                r#"{"dependencies":{"a":"^1.0.0"},"description":"a file: of"}"#,
                false,
            ),
        ] {
            assert_eq!(is_copied_by_node(text), expected, "{text}");
        }
    }
}
