//! Bad input, as a user meets it: the message alone says what is wrong, where, and what to do.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

/// Bytes of a page of SQLite; the first holds the header of the file.
const PAGE_BYTES: usize = 4096;
/// The page on which the table of issues begins; the first page is number 1.
const ISSUES_PAGE: &str = "SELECT rootpage FROM sqlite_schema WHERE name = 'issue'";
/// Where the header holds the version of the schema, four bytes, the highest first.
const SCHEMA_VERSION_AT: usize = 60;

fn project() -> Project {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    configure(
        &project,
        &json!({ "provider": "command", "providers": { "command": { "command": "true" } } }),
    );
    project
}

fn configure(project: &Project, config: &Value) {
    let mut whole = json!({ "prefix": "SYM", "gates": [{ "name": "test", "command": "true" }] });
    let fields = config.as_object().unwrap().clone();
    whole.as_object_mut().unwrap().extend(fields);
    project.configure(&whole);
}

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[test]
fn prompts_of_a_project_that_are_broken_name_file_line_and_column() {
    let project = project();
    project.ok(&["issue", "add", "Title"]);
    let profile = project.root.join(".symphony/prompts/profiles/worker.md");
    let contract = project.root.join(".symphony/prompts/phases/research.md");
    write(&profile, "---\nname: Ours\ntype: worker\nmaxTurn: 7\n---\n");
    let transcript = Transcript::of(&project)
        .run(&["profile", "list"])
        .run(&["tick"])
        .run(&["explain", "SYM-1"]);
    write(&profile, "---\nname: [Ours\n---\nbody\n");
    let transcript = transcript.run(&["profile", "show", "worker"]);
    write(&profile, "---\nname: Ours\nbody\n");
    let transcript = transcript.run(&["prompt", "show", "SYM-1"]);
    std::fs::remove_file(&profile).unwrap();
    write(
        &contract,
        "---\nphase: research\ncontract_version: one\n---\n",
    );
    let transcript = transcript
        .run(&["phase", "list"])
        .run(&["phase", "check", ".symphony/prompts/phases/research.md"])
        .run(&["phase", "check", "nowhere.md"])
        .run(&["doctor"]);
    assert_transcript!("bad_prompts", transcript);
}

#[test]
fn a_database_that_can_not_be_used_says_how_to_go_on() {
    let project = project();
    project.ok(&["issue", "add", "Title"]);
    let file = project.root.join(".symphony/symphony.db");
    let whole = std::fs::read(&file).unwrap();
    let page = usize::from({
        let database = rusqlite::Connection::open(&file).unwrap();
        database
            .query_row(ISSUES_PAGE, [], |row| row.get::<_, u16>(0))
            .unwrap()
    });
    let plant = |bytes: &[u8]| std::fs::write(&file, bytes).unwrap();

    let mut newer = whole.clone();
    newer[SCHEMA_VERSION_AT..SCHEMA_VERSION_AT + 4].copy_from_slice(&999_u32.to_be_bytes());
    plant(&newer);
    let transcript = Transcript::of(&project)
        .run(&["issue", "list"])
        .run(&["tick"])
        .run(&["init"])
        .run(&["doctor"]);

    let mut damaged = whole.clone();
    damaged[(page - 1) * PAGE_BYTES..page * PAGE_BYTES].fill(0xff);
    plant(&damaged);
    let transcript = transcript
        .run(&["issue", "list"])
        .run(&["tick"])
        .run(&["db", "check"])
        .run(&["db", "backup", "copy.db"])
        .run(&["doctor"]);

    damaged[PAGE_BYTES..].fill(0xff);
    plant(&damaged);
    let transcript = transcript.run(&["issue", "list"]).run(&["doctor"]);

    plant("no database ".repeat(PAGE_BYTES).as_bytes());
    let transcript = transcript.run(&["issue", "list"]).run(&["doctor"]);

    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let transcript = transcript.run(&["issue", "list"]);
    std::fs::remove_dir(&file).unwrap();

    // what the hint says
    plant(&whole);
    let transcript = transcript.run(&["issue", "list"]);
    assert_transcript!("bad_database", transcript);
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let project = project();
    project.ok(&["issue", "add", "Title"]);
    configure(
        &project,
        &json!({ "provider": "claude-cli", "providers": { "claude-cli": { "binary": "/nowhere/claude" } } }),
    );
    let transcript = Transcript::of(&project)
        .run(&["tick"])
        .run(&["explain", "SYM-1"]);
    let binaries = json!({ "claude-cli": { "binary": "/nowhere/claude" }, "codex-cli": { "binary": "no-such-codex" } });
    configure(&project, &json!({ "providers": binaries }));
    let transcript = transcript.run(&["explain", "SYM-1"]);
    let doctor = project.symphony(&["doctor", "--json"]).json();
    assert_eq!(
        doctor["items"][4],
        json!({
            "check": "claude",
            "status": "warning",
            "detail": "`/nowhere/claude`, which providers.claude-cli.binary names, does not exist",
            "fix": "`symphony config set providers.claude-cli.binary PATH`, or remove the key from the file",
        })
    );
    configure(&project, &json!({ "provider": "command" }));
    let transcript = transcript.run(&["tick"]);
    configure(&project, &json!({ "provider": "comand" }));
    let transcript = transcript.run(&["tick"]).run(&["explain", "SYM-1"]);
    assert_transcript!("bad_agent", transcript);
}

/// A command, and its message where it is refused.
type Row = (Vec<String>, Option<&'static str>);

/// Texts at their limits, and one over.
fn rows() -> Vec<Row> {
    let words = |parts: &[&str]| -> Vec<String> { parts.iter().map(|&part| part.into()).collect() };
    let add = |more: &[&str]| words(&[&["issue", "add", "T"], more].concat());
    let text = |bytes: usize| "x".repeat(bytes);
    let labels = |count: usize| {
        let mut row = add(&[]);
        for number in 0..count {
            row.extend(words(&["--label", &format!("label-{number}")]));
        }
        row
    };
    let over_text =
        "error: failed to add the issue: description is 65537 bytes long; the limit is 65536\n";
    let over_comment =
        "error: failed to comment on SYM-1: content is 65537 bytes long; the limit is 65536\n";
    let title = |chars: usize| words(&["issue", "add", &"ä".repeat(chars)]);
    vec![
        (title(300), None),
        (
            title(301),
            Some(
                "error: failed to add the issue: title is 301 characters long; the limit is 300\n",
            ),
        ),
        (add(&["--label", &text(100)]), None),
        (labels(50), None),
        (
            labels(51),
            Some("error: failed to add the issue: labels has 51 items; the limit is 50\n"),
        ),
        (add(&["--description", &text(65_536)]), None),
        (add(&["--description", &text(65_537)]), Some(over_text)),
        (words(&["issue", "comment", "SYM-1", &text(65_536)]), None),
        (
            words(&["issue", "comment", "SYM-1", &text(65_537)]),
            Some(over_comment),
        ),
        (
            words(&["issue", "add", "one\ntwo"]),
            Some(
                "error: failed to add the issue: title must be one line without control characters\n",
            ),
        ),
        (
            add(&["--label", "a\u{1b}b"]),
            Some("error: failed to add the issue: label `a␛b` has a control character\n"),
        ),
        (
            words(&["issue", "show", "SYM-999999999999999999"]),
            Some(
                "error: failed to show SYM-999999999999999999: there is no issue `SYM-999999999999999999`\nhint: `symphony issue list` lists the issues\n",
            ),
        ),
        (
            words(&["issue", "show", "SYM-1000000000000000000"]),
            Some(
                "error: invalid value 'SYM-1000000000000000000' for '<ISSUE>': `SYM-1000000000000000000` is not an issue identifier such as SYM-12\n\nFor more information, try '--help'.\n",
            ),
        ),
    ]
}

#[test]
fn a_text_at_its_limit_is_taken_and_one_over_it_names_the_limit() {
    let project = project();
    for (arguments, refusal) in rows() {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let answer = project.symphony(&arguments);
        let said = (answer.code == 0, answer.stderr.as_str());
        let told = (refusal.is_none(), refusal.unwrap_or_default());
        let shown: String = arguments.join(" ").chars().take(60).collect();
        assert_eq!(said, told, "{shown}");
    }
    // a label is told whole, so that it can be found
    let label = "y".repeat(101);
    let answer = project.symphony(&["issue", "add", "T", "--label", &label]);
    let told =
        format!("error: failed to add the issue: label `{label}` is longer than 100 characters\n");
    assert_eq!((answer.code, answer.stderr), (4, told));
    // and so is a prefix of ten, not one of eleven
    let ten = Project::repository("ten");
    ten.ok(&["init", "--prefix", "ABCDEFGHIJ"]);
    assert_eq!(ten.add_issue("T"), "ABCDEFGHIJ-1");
    let eleven = Project::repository("eleven").symphony(&["init", "--prefix", "ABCDEFGHIJK"]);
    let told = "error: invalid value 'ABCDEFGHIJK' for '--prefix <PREFIX>': `ABCDEFGHIJK` is not a prefix (a capital letter, then up to nine capital letters or digits)\n\nFor more information, try '--help'.\n";
    assert_eq!((eleven.code, eleven.stderr.as_str()), (2, told));
}

#[test]
fn files_of_a_project_have_no_power_over_the_terminal() {
    const EVIL: &str = "\u{1b}]0;owned\u{7}\u{9b}31m";
    let project = project();
    project.ok(&["issue", "add", "Title"]);
    let shown = |arguments: &[&str]| {
        let answer = project.symphony(arguments);
        let text = answer.stdout + &answer.stderr;
        assert!(
            text.contains("owned"),
            "{arguments:?} shows the text: {text}"
        );
        let active = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(active), "{arguments:?}: {text:?}");
    };
    configure(&project, &json!({ "env": { "NAME": EVIL } }));
    shown(&["config", "show", "env"]);
    shown(&["config", "show", "--set"]);
    configure(&project, &json!({ EVIL: 1 }));
    for arguments in [
        &["config", "check"][..],
        &["doctor"],
        &["tick"],
        &["explain", "SYM-1"],
    ] {
        shown(arguments);
    }
    configure(&project, &json!({}));
    let profile = project.root.join(".symphony/prompts/profiles/worker.md");
    write(
        &profile,
        "---\nname: Ours\ntype: worker\ndescription: \"\\e]0;owned\\a\"\n---\nbody \u{1b}]0;owned\u{7}\n",
    );
    shown(&["profile", "list"]);
    shown(&["profile", "show", "worker"]);
    write(
        &profile,
        "---\nname: Ours\ntype: worker\n\"\\e]0;owned\\a\": 1\n---\n",
    );
    shown(&["profile", "list"]);
    shown(&["doctor"]);
}

#[test]
fn what_does_not_exist_is_an_error_whose_hint_lists_what_does() {
    let project = project();
    project.add_issue("Title");
    for (arguments, found, hint) in [
        (
            &["inbox", "--dismiss", "notice:3"][..],
            "no notice `notice:3`",
            "`symphony inbox`",
        ),
        (
            &["project", "show", "nope"],
            "no project `nope`",
            "`symphony project list`",
        ),
        (
            &["events", "--plan", "nope"],
            "no plan with the id or file `nope`",
            "`symphony plan list`",
        ),
        (
            &["runs", "list", "--plan", "nope"],
            "no plan with the id or file `nope`",
            "`symphony plan list`",
        ),
        (
            &["events", "--issue", "SYM-9"],
            "no issue `SYM-9`",
            "`symphony issue list`",
        ),
    ] {
        let answer = project.symphony(arguments);
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (3, ""),
            "{arguments:?}"
        );
        let (error, told) = answer.stderr.split_once("\nhint: ").unwrap();
        assert!(error.ends_with(found), "{answer:#?}");
        assert!(told.starts_with(hint), "{answer:#?}");
    }
    // it is there already
    for (arguments, hint) in [
        (
            &["issue", "move", "SYM-1", "todo"][..],
            "`symphony explain SYM-1` shows",
        ),
        (&["issue", "move", "SYM-1", "cancelled"], ""),
        (
            &["issue", "move", "SYM-1", "cancelled"],
            "`symphony issue move SYM-1 todo` opens it again",
        ),
    ] {
        let answer = project.symphony(arguments);
        assert_eq!(answer.code == 0, hint.is_empty(), "{answer:#?}");
        assert!(answer.stderr.contains(hint), "{answer:#?}");
    }
}

#[test]
fn what_can_not_be_found_or_written_is_named() {
    let project = project();
    project.add_issue("Title");
    let nowhere = project.beside.join("nowhere/issues.jsonl");
    let nowhere = nowhere.to_str().unwrap();
    let folder = project.beside.join("nowhere");
    let export = format!(
        "error: failed to write {nowhere}: there is no folder {}\n",
        folder.display()
    );
    let rows: [(&[&str], i32, &str); 4] = [
        (
            &["project", "show", "other"],
            3,
            "error: failed to find the project: there is no project `other`\n",
        ),
        (
            &["profile", "show", "other"],
            3,
            "error: there is no profile `other`\n",
        ),
        (
            &["phase", "show", "other"],
            3,
            "error: there is no phase `other`\n",
        ),
        (&["issue", "export", nowhere], 1, &export),
    ];
    for (arguments, code, begins) in rows {
        let answer = project.symphony(arguments);
        assert_eq!(answer.code, code, "{answer:#?}");
        assert!(answer.stderr.starts_with(begins), "{answer:#?}");
    }
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = project
        .command(&["issue", "list"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap().as_str()
        ),
        (
            Some(1),
            "error: failed to write the answer: the disk is full\n"
        )
    );
    // who reads has seen enough: no error, whatever the length
    for arguments in [&["config", "schema"][..], &["man"], &["issue", "list"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = project.command(arguments).stdout(writer).output().unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.len()),
            (Some(0), 0),
            "{arguments:?}"
        );
    }
}
