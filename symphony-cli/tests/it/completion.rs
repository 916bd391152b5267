//! What shells offer: the functions that `symphony completions` prints are loaded into real shells and driven as a press of the
//! key drives them: bash always, zsh and fish with the feature `shells`, since not every machine has them (`.ci/run` installs them).

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::records::{claimed_run, open_pr, store};
use crate::support::{Project, scenarios};

/// Makes a command, as a shell and its user would.
#[expect(
    clippy::disallowed_methods,
    reason = "a shell, and the program as a shell starts it"
)]
fn command(program: &str) -> std::process::Command {
    std::process::Command::new(program)
}

/// Runs a script in a shell, with the program in its path; returns the lines.
fn shell(directory: &Path, words: &[&str], script: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_symphony"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let output = command(words[0])
        .args(&words[1..])
        .arg(script)
        .current_dir(directory)
        .env("PATH", path)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; `.ci/run` installs it", words[0]));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "", "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// What bash offers for the last word.
fn bash(directory: &Path, line: &[&str]) -> Vec<String> {
    let words: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
    let last = line.last().unwrap();
    let script = format!(
        "source <(symphony completions bash); COMP_WORDS=({}); COMP_CWORD={}
         _clap_complete_symphony symphony '{last}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join(" "),
        line.len() - 1,
    );
    shell(directory, &["bash", "--norc", "-c"], &script)
}

/// What zsh offers for the last word, as `value:description`.
#[cfg(feature = "shells")]
fn zsh(directory: &Path, line: &[&str]) -> Vec<String> {
    let words: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "compdef() {{ }}; source <(symphony completions zsh); _describe() {{ print -rl -- \"${{(@P)3}}\" }}
         words=({}); CURRENT={}; _clap_dynamic_completer_symphony",
        words.join(" "),
        line.len(),
    );
    shell(directory, &["zsh", "-f", "-c"], &script)
}

/// What fish offers for the last word, as `value<TAB>description`.
#[cfg(feature = "shells")]
fn fish(directory: &Path, line: &[&str]) -> Vec<String> {
    let line = line.join(" ");
    let script = format!("symphony completions fish | source; complete -C '{line}'");
    shell(directory, &["fish", "-N", "-c"], &script)
}

/// The offers that are no options.
fn values(mut offered: Vec<String>) -> Vec<String> {
    offered.retain(|offer| !offer.starts_with('-') && !offer.is_empty());
    offered
}

fn project() -> Project {
    let project = Project::new("place", &scenarios([]), &json!({}));
    project.ok(&["issue", "add", "Parse dates"]);
    project.ok(&["issue", "add", "Fix it's: \"colons\" & $dollars"]);
    project
}

#[test]
fn bash_offers_issues_newest_first_and_what_was_typed_narrows_them() {
    let project = project();
    let line = ["symphony", "issue", "show", ""];
    assert_eq!(values(bash(&project.root, &line)), ["SYM-2", "SYM-1"]);
    // what was typed narrows it
    let line = ["symphony", "explain", "SYM-1"];
    assert_eq!(values(bash(&project.root, &line)), ["SYM-1"]);
    // from elsewhere, with `-C`
    let root = project.root.to_str().unwrap();
    let line = ["symphony", "-C", root, "issue", "show", ""];
    assert_eq!(values(bash(Path::new("/"), &line)), ["SYM-2", "SYM-1"]);
}

#[test]
#[cfg(feature = "shells")]
fn zsh_and_fish_offer_issues_with_their_titles() {
    let project = project();
    let line = ["symphony", "issue", "show", ""];
    assert_eq!(
        values(zsh(&project.root, &line)),
        ["SYM-2:Fix it's: \"colons\" & $dollars", "SYM-1:Parse dates"]
    );
    assert_eq!(
        values(fish(&project.root, &line)),
        [
            "SYM-2\tFix it's: \"colons\" & $dollars",
            "SYM-1\tParse dates"
        ]
    );
    let line = ["symphony", "explain", "SYM-1"];
    assert_eq!(values(zsh(&project.root, &line)), ["SYM-1:Parse dates"]);
    assert_eq!(values(fish(&project.root, &line)), ["SYM-1\tParse dates"]);
}

#[test]
fn each_kind_of_id_is_offered_where_it_is_asked_for() {
    let project = project();
    let pr = open_pr(&project, "SYM-1", "A change");
    let issue = symphony_core::id::IssueId::parse("SYM-2").unwrap();
    let run = claimed_run(
        &project,
        symphony_core::run::RunTarget::Issue(issue),
        symphony_core::agent::AgentType::Worker,
    );
    let offered = |line: &[&str]| values(bash(&project.root, line));
    let prs = offered(&["symphony", "pr", "merge", ""]);
    assert_eq!(prs[0], pr.to_string());
    let runs = offered(&["symphony", "runs", "logs", ""]);
    assert!(runs.contains(&run.to_string()), "{runs:?}");
    assert!(runs.contains(&"SYM-2".to_owned()), "{runs:?}");
    let beginning: String = run.as_str().chars().take(8).collect();
    let found = offered(&["symphony", "runs", "show", &beginning]);
    assert_eq!(found, [run.to_string()]);
    #[cfg(feature = "shells")]
    assert_eq!(
        values(fish(
            &project.root,
            &["symphony", "runs", "show", &beginning]
        )),
        [format!("{run}\tworker on SYM-2, starting")]
    );
    assert_eq!(offered(&["symphony", "profile", "show", "jud"]), ["judge"]);
    assert_eq!(
        offered(&["symphony", "demo", "--provider", "scr"]),
        ["scripted"]
    );
    assert_eq!(
        offered(&["symphony", "phase", "show", "arch"]),
        ["architecture"]
    );
    assert_eq!(
        offered(&["symphony", "issue", "add", "x", "--depends-on", "SYM-2"]),
        ["SYM-2"]
    );
    assert_eq!(
        offered(&["symphony", "issue", "move", "SYM-1", "can"]),
        ["cancelled"]
    );
    assert_eq!(offered(&["symphony", "expl"]), ["explain"]);
}

/// A shell must not print an error into the line that a person types, and must not make anything.
#[test]
fn outside_of_a_project_nothing_is_offered_and_nothing_is_made() {
    let project = Project::repository("place");
    for line in [
        &["symphony", "issue", "show", ""][..],
        &["symphony", "-C", "/no/such/folder", "issue", "show", ""],
    ] {
        let shells = [
            bash,
            #[cfg(feature = "shells")]
            zsh,
            #[cfg(feature = "shells")]
            fish,
        ];
        for offer in shells {
            assert_eq!(values(offer(&project.root, line)), [""; 0], "{line:?}");
        }
    }
    assert!(!project.root.join(".symphony").exists());
}

/// The key is pressed again and again: a large backlog must not be felt. The floor, a start of the program without a database,
/// is subtracted, since a debug build on a busy machine takes long for that alone.
#[test]
fn ten_thousand_issues_take_no_longer_than_a_key() {
    let project = project();
    let fill = "WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 10009)
        INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
        SELECT 'SYM-' || i, (SELECT id FROM project), i, 'Issue ' || i, 'issue ' || i, '',
               CASE WHEN i % 3 = 0 THEN 'done' ELSE 'todo' END, 4, i, i FROM n";
    drop(store(&project));
    rusqlite::Connection::open(project.root.join(".symphony/symphony.db"))
        .unwrap()
        .execute_batch(fill)
        .unwrap();
    let ask = |directory: &Path| {
        let begun = Instant::now();
        let output = command(env!("CARGO_BIN_EXE_symphony"))
            .args(["--", "symphony", "issue", "show", ""])
            .current_dir(directory)
            .env("SYMPHONY_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", "3")
            .env("_CLAP_IFS", "\n")
            .output()
            .unwrap();
        (begun.elapsed(), String::from_utf8(output.stdout).unwrap())
    };
    let (_, offered) = ask(&project.root);
    let issues = offered.lines().filter(|line| line.starts_with("SYM-"));
    assert_eq!(issues.count(), 200, "a person reads no more");
    assert_eq!(offered.lines().next(), Some("SYM-2"), "the newest first");
    // in turn, so that a busy moment slows both; a tenth of a second is what a person begins to notice
    let pairs = (0..15).map(|_| (ask(&project.root).0, ask(Path::new("/")).0));
    let (with, without): (Vec<Duration>, Vec<Duration>) = pairs.unzip();
    let fastest = |all: Vec<Duration>| all.into_iter().min().unwrap();
    let (with, without) = (fastest(with), fastest(without));
    let most = (without * 10).max(Duration::from_millis(100));
    assert!(with < most, "{with:?}, and {without:?} outside a project");
}
