//! What the workflows of GitHub Actions run: the checks that a change has to pass there.
//!
//! Only commands that can be read without the rest of the workflow count: a line that is one command by itself, in the root.

use super::files::ProjectFiles;

/// The folder of workflows.
pub(super) const FOLDER: &str = ".github/workflows/";
/// Workflows that are read; a project with more configures its gates by hand.
pub(super) const FILES_MAX: usize = 20;

/// Returns the single commands that workflows run, in the order of the files.
pub(super) fn commands(files: &ProjectFiles) -> Vec<String> {
    let workflows = files.beginning_with(FOLDER).take(FILES_MAX);
    workflows
        .flat_map(|path| of_workflow(files.text(path)))
        .collect()
}

fn of_workflow(text: &str) -> Vec<String> {
    // a command that runs in another folder is one of another package
    if text.contains("working-directory:") {
        return Vec::new();
    }
    let mut found = Vec::new();
    // the column of the `run:` whose block is being read
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let line = line.trim_end();
        let depth = line.len() - line.trim_start().len();
        if block.is_some_and(|column| line.is_empty() || depth > column) {
            found.extend(plain(line));
            continue;
        }
        block = None;
        let step = line.trim_start().trim_start_matches("- ").trim_start();
        let Some(value) = step.strip_prefix("run:").map(str::trim) else {
            continue;
        };
        if value.starts_with('|') {
            block = Some(line.len() - step.len());
        } else {
            found.extend(plain(value.trim_matches(['"', '\''])));
        }
    }
    found
}

/// Returns a line that is one command by itself; none where a shell, or the workflow, makes more of it.
fn plain(line: &str) -> Option<String> {
    let mut line = line.trim();
    // a variable part at the end only adds to the command
    while let Some((before, _)) = line
        .strip_suffix("}}")
        .and_then(|rest| rest.rsplit_once("${{"))
    {
        line = before.trim_end();
    }
    let is_more = |c: char| "$`|&;<>(){}\\#\"'".contains(c);
    (!line.is_empty() && !line.contains(is_more)).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_their_own_are_read_and_nothing_else() {
        let workflow = "jobs:
  check:
    steps:
    - uses: actions/checkout@v4
    - run: cargo fmt -- --check
    - name: Clippy
      run: cargo clippy --locked --all-targets ${{ env.FEATURES }}
    - run: |
        cargo test

        echo \"x=$Y\" >> $GITHUB_OUTPUT
        cargo build | tee log
    - run: \"npm run lint\"
    - run: >
        folded
    - with:
        run-it: no
";
        assert_eq!(
            of_workflow(workflow),
            [
                "cargo fmt -- --check",
                "cargo clippy --locked --all-targets",
                "cargo test",
                "npm run lint",
            ]
        );
        let elsewhere = format!("{workflow}\\n      working-directory: web\\n");
        assert_eq!(of_workflow(&elsewhere), [""; 0]);
    }
}
