//! The secret scan: values of copied files in what a branch adds.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use symphony_workspace::{RepositoryOptions, SecretLeak, SecretScan};

use crate::project::{Project, commit_file, git, made, write};

const ENV: &str = "API_KEY=sk-live-0123456789\nPUBLIC=known-to-all\nSHORT=abc\n";

fn leak(name: &str, found_in: &str) -> SecretLeak {
    SecretLeak {
        file: ".env".into(),
        name: name.into(),
        found_in: found_in.into(),
    }
}

struct Case {
    project: Project,
    repository: symphony_workspace::Repository,
    worktree: symphony_workspace::Worktree,
}

fn case() -> Case {
    let project = Project::new();
    write(project.root.join(".env"), ENV);
    commit_file(
        &project.root,
        "docs/known.md",
        "the value known-to-all is public\n",
    );
    let repository = project.open();
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    Case {
        project,
        repository,
        worktree,
    }
}

fn scan(case: &Case) -> SecretScan {
    let base = case.project.head("main");
    let head = case.project.head("symphony/SYM-1");
    case.repository
        .scan_secrets(Some(&case.worktree), &base, &head)
        .unwrap()
}

#[test]
fn honest_work_has_no_leak() {
    let case = case();
    commit_file(
        case.worktree.path(),
        "a.txt",
        "known-to-all, abc, and API_KEY by name\n",
    );
    let expected = SecretScan {
        leaks: vec![],
        reserved: Vec::new(),
        copied: vec![],
        values: 2,
    };
    assert_eq!(scan(&case), expected);
}

#[test]
fn a_value_is_found_plain_encoded_and_in_a_later_removed_file() {
    let case = case();
    let folder = case.worktree.path();
    commit_file(folder, "plain.txt", "key: sk-live-0123456789;\n");
    // base64 of "x:sk-live-0123456789" and a URL-encoded form.
    commit_file(
        folder,
        "b64.txt",
        "Authorization: Basic eDpzay1saXZlLTAxMjM0NTY3ODk=\n",
    );
    commit_file(folder, "gone.txt", "sk-live-0123456789\n// another blob\n");
    git(folder, &["rm", "-q", "gone.txt"]);
    git(folder, &["commit", "-q", "-m", "oops"]);
    assert_eq!(
        scan(&case).leaks,
        vec![
            leak("API_KEY", "b64.txt"),
            leak("API_KEY", "gone.txt"),
            leak("API_KEY", "plain.txt"),
        ]
    );
}

#[test]
fn messages_file_names_and_the_committed_file_itself_count() {
    let case = case();
    let folder = case.worktree.path();
    git(
        folder,
        &[
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "use sk-live-0123456789",
        ],
    );
    let commit = git(folder, &["rev-parse", "HEAD"]);
    assert_eq!(
        scan(&case).leaks,
        vec![leak("API_KEY", &format!("commit {commit}"))]
    );
    git(folder, &["reset", "-q", "--hard", "HEAD~1"]);
    write(folder.join("sk-live-0123456789.txt"), "x\n");
    git(folder, &["add", "--", "sk-live-0123456789.txt"]);
    git(folder, &["commit", "-q", "-m", "x"]);
    assert_eq!(scan(&case).leaks, vec![leak("API_KEY", "the top folder")]);
    git(folder, &["reset", "-q", "--hard", "HEAD~1"]);
    git(folder, &["add", "-f", ".env"]);
    git(folder, &["commit", "-q", "-m", "env"]);
    assert_eq!(scan(&case).leaks, vec![leak("API_KEY", ".env")]);
}

#[test]
fn a_leak_does_not_tell_the_value() {
    let case = case();
    commit_file(case.worktree.path(), "plain.txt", "sk-live-0123456789\n");
    let text = format!("{:?}", scan(&case));
    assert!(!text.contains("0123456789"), "{text}");
}

#[test]
fn large_and_binary_blobs_are_looked_through() {
    let case = case();
    let folder = case.worktree.path();
    let mut bytes = vec![0_u8; 3 * 1024 * 1024];
    bytes.extend_from_slice(b"\xff\xfesk-live-0123456789\0");
    std::fs::write(folder.join("blob.bin"), &bytes).unwrap();
    commit_file(folder, "z.txt", "nothing\n");
    git(folder, &["add", "-A", "--", "blob.bin"]);
    git(folder, &["commit", "-q", "-m", "blob"]);
    assert_eq!(scan(&case).leaks, vec![leak("API_KEY", "blob.bin")]);
}

#[test]
fn a_copied_file_is_refused_by_its_path_whatever_its_values() {
    let project = Project::new();
    // shorter than any value that is looked for
    write(project.root.join(".env"), "PIN=1234\n");
    write(project.root.join("keys/dev.pem"), "x\n");
    let repository = project.open_with(RepositoryOptions {
        copy: vec!["keys/*.pem".to_owned()],
        ..RepositoryOptions::default()
    });
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    let folder = worktree.path();
    commit_file(folder, "honest.txt", "work\n");
    let scan = |worktree| {
        let (base, head) = (project.head("main"), project.head("symphony/SYM-1"));
        let scan = repository.scan_secrets(worktree, &base, &head).unwrap();
        let files = scan
            .copied
            .iter()
            .map(|leak| leak.file.display().to_string());
        files.collect::<Vec<_>>()
    };
    assert!(scan(Some(&worktree)).is_empty());
    git(folder, &["add", "-f", ".env", "keys/dev.pem"]);
    git(folder, &["commit", "-qm", "everything"]);
    assert_eq!(scan(Some(&worktree)), [".env", "keys/dev.pem"]);
    // a commit that takes them out again leaves them in the history
    git(folder, &["rm", "-q", "--cached", ".env", "keys/dev.pem"]);
    git(folder, &["commit", "-qm", "oops"]);
    assert_eq!(scan(Some(&worktree)), [".env", "keys/dev.pem"]);
    // the worktree may be gone by the time of the merge
    assert_eq!(scan(None), [".env", "keys/dev.pem"]);
    // a person tracks it on the base meanwhile: it is the project's own
    git(&project.root, &["add", "-f", ".env"]);
    git(&project.root, &["commit", "-qm", "an example"]);
    assert_eq!(scan(None), ["keys/dev.pem"]);
}

#[test]
fn a_copied_file_on_a_merged_side_branch_is_found() {
    let case = case();
    let folder = case.worktree.path();
    git(folder, &["checkout", "-qb", "side"]);
    git(folder, &["add", "-f", ".env"]);
    git(folder, &["commit", "-qm", "with it"]);
    git(folder, &["rm", "-q", "--cached", ".env"]);
    git(folder, &["commit", "-qm", "without it"]);
    git(folder, &["checkout", "-q", "symphony/SYM-1"]);
    commit_file(folder, "own.txt", "own\n");
    git(folder, &["merge", "-q", "--no-edit", "side"]);
    let found = scan(&case).copied;
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_folder_of_worktrees_beside_the_project_is_named_relative_to_it() {
    let project = Project::new();
    write(project.root.join(".env"), ENV);
    let repository = project.open_with(RepositoryOptions {
        workspaces_dir: "../trees".into(),
        ..RepositoryOptions::default()
    });
    assert_eq!(
        repository.workspaces_dir(),
        project.root.with_file_name("trees")
    );
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    commit_file(worktree.path(), "a.txt", "sk-live-0123456789\n");
    let (base, head) = (project.head("main"), project.head("symphony/SYM-1"));
    let scan = repository
        .scan_secrets(Some(&worktree), &base, &head)
        .unwrap();
    assert_eq!(scan.leaks, [leak("API_KEY", "a.txt")]);
    assert_eq!(scan.reserved, [""; 0].map(std::path::PathBuf::from));
}
