//! Programs that an agent plants for Symphony's own git: none runs, and normal work goes on.
//!
//! Each vector is planted in a project of its own, the whole life of a worktree goes over it, and
//! then plain git does one thing: that it runs the program shows that the vector was live.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]
#![expect(
    clippy::panic,
    reason = "the whole life of a worktree is a test's body"
)]

use std::fs;
use std::path::{Path, PathBuf};

use symphony_workspace::{
    BaseMerge, BranchFate, MergeOfBase, MergeStyle, RemoveRequest, RepositoryOptions,
    WorkspaceError, Worktree, WorktreeKey,
};

use crate::project::{
    Project, at, branch, commit_file, executable, git, git_in, made, merge_into, plain_folder,
    prepare, read, write,
};
use crate::vectors::VECTORS;

/// What an agent can reach, and its program.
pub(crate) struct Stage {
    pub(crate) project: Project,
    pub(crate) worktree: Worktree,
    pub(crate) program: PathBuf,
    mark: PathBuf,
    _place: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn folder(&self) -> &Path {
        self.worktree.path()
    }

    pub(crate) fn program(&self) -> &str {
        self.program.to_str().unwrap()
    }

    pub(crate) fn configure(&self, key: &str, value: &str) {
        git(self.folder(), &["config", key, value]);
    }

    pub(crate) fn plain_git(&self, args: &[&str]) {
        // Its outcome does not matter, only whether the program ran.
        git_in(self.folder(), args);
    }
}

/// Forgets what planting itself set off.
pub(crate) fn unmark(stage: &Stage) {
    if stage.mark.exists() {
        fs::remove_file(&stage.mark).unwrap();
    }
}

fn stage() -> Stage {
    let project = Project::new();
    let mark = project.root.with_file_name("mark");
    let place = plain_folder();
    let program = place.path().join("evil");
    executable(
        &program,
        &format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()),
    );
    write(
        project.root.join("shared.txt"),
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    );
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-q", "-m", "shared"]);
    let repository = project.open();
    let worktree = made(&repository);
    // Both sides touch one file, so that a merge driver would be asked.
    write(
        project.root.join("shared.txt"),
        "base\n2\n3\n4\n5\n6\n7\n8\n9\n",
    );
    git(&project.root, &["commit", "-q", "-am", "base"]);
    Stage {
        project,
        worktree,
        program,
        mark,
        _place: place,
    }
}

/// Everything that Symphony does with a worktree; the work itself has to come out right.
fn whole_life(stage: &Stage) {
    let repository = stage.project.open_with(RepositoryOptions::default());
    let worktree = &stage.worktree;
    write(
        stage.folder().join("shared.txt"),
        "1\n2\n3\n4\n5\n6\n7\n8\nbranch\n",
    );
    write(stage.folder().join("work.txt"), "work\n");
    repository.status(worktree).unwrap();
    repository.fingerprint(worktree).unwrap();
    let done = repository.auto_commit(worktree, "work", at(1)).unwrap();
    if done.commit.is_none() {
        // Symphony's git may not run the filter, so it leaves the files to the agent, whose git may.
        assert!(done.unfiltered.iter().any(|path| path == "work.txt"));
        commit_without_filters(stage, &done.unfiltered);
    }
    let prepared = prepare(&repository, BaseMerge::Merge).unwrap();
    let MergeOfBase::Merged(head) = prepared.base else {
        panic!("{prepared:?}");
    };
    assert_eq!(
        read(stage.folder().join("shared.txt")),
        "base\n2\n3\n4\n5\n6\n7\n8\nbranch\n"
    );
    let base = repository.base().unwrap().commit;
    let diff = repository.diff(&base, &head, 1 << 20).unwrap();
    assert!(
        diff.patch.contains("+work\n") && diff.patch.contains("+branch\n"),
        "{}",
        diff.patch
    );
    repository
        .scan_secrets(Some(worktree), &base, &head)
        .unwrap();

    write(stage.folder().join("late.txt"), "late\n");
    write(stage.folder().join("work.txt"), "late\n");
    let rescued = repository.reset_to(worktree, &head, at(2)).unwrap();
    assert!(rescued.rescue.is_some());
    let key = WorktreeKey::of("_gates");
    let gates = repository.create_temporary(&key, &head, at(3)).unwrap();
    assert_eq!(read(gates.path().join("work.txt")), "work\n");
    for (key, branch_name) in [(&key, None), (worktree.key(), worktree.branch())] {
        if branch_name.is_some() {
            let main = branch("main");
            merge_into(&repository, &main, &base, &head, MergeStyle::Commit).unwrap();
            assert_eq!(read(stage.project.root.join("work.txt")), "work\n");
        }
        let removed = repository.remove_worktree(&RemoveRequest {
            key,
            branch: branch_name,
            base: &branch("main"),
            fate: BranchFate::Keep,
            now: at(4),
        });
        if branch_name.is_some() && stage.folder().join("inner").exists() {
            // What was committed in it exists nowhere else.
            let error = removed.unwrap_err();
            assert!(
                matches!(error, WorkspaceError::RescueFailed { .. }),
                "{error}"
            );
        } else {
            assert!(removed.unwrap().worktree);
        }
    }
}

/// Commits files as they are, which runs no filter.
fn commit_without_filters(stage: &Stage, paths: &[String]) {
    let git = |args: &[&str]| {
        let args = [&["-c", "core.fsmonitor=false"], args].concat();
        git(stage.folder(), &args)
    };
    // An index without the times of files gives git no reason to compare them.
    git(&["read-tree", "HEAD"]);
    for path in paths {
        let blob = git(&["hash-object", "-w", "--no-filters", path]);
        let entry = format!("100644,{blob},{path}");
        git(&["update-index", "--add", "--cacheinfo", &entry]);
    }
    let tree = git(&["write-tree"]);
    let commit = git(&["commit-tree", &tree, "-p", "HEAD", "-m", "work"]);
    git(&["update-ref", "HEAD", &commit]);
}

#[test]
fn no_planted_program_runs_and_the_work_is_done() {
    std::thread::scope(|scope| {
        for vector in VECTORS {
            scope.spawn(move || {
                let live = stage();
                (vector.plant)(&live);
                if let Some(control) = vector.control {
                    control(&live);
                    assert!(live.mark.exists(), "{}: the control is dead", vector.name);
                }
                let stage = stage();
                (vector.plant)(&stage);
                unmark(&stage);
                whole_life(&stage);
                assert!(!stage.mark.exists(), "{}: the program ran", vector.name);
            });
        }
    });
}

#[test]
fn a_replaced_git_file_redirects_nobody() {
    for replacement in ["a repository", "a pointer to another"] {
        let stage = stage();
        let repository = stage.project.open();
        let before = repository.fingerprint(&stage.worktree).unwrap();
        let git_file = stage.folder().join(".git");
        fs::remove_file(&git_file).unwrap();
        let evil = if replacement == "a repository" {
            stage.folder().to_owned()
        } else {
            stage.project.root.with_file_name("evil-repository")
        };
        fs::create_dir_all(&evil).unwrap();
        git(&evil, &["init", "-q"]);
        git(&evil, &["config", "core.fsmonitor", stage.program()]);
        git(&evil, &["config", "filter.evil.clean", stage.program()]);
        if replacement == "a pointer to another" {
            write(
                &git_file,
                &format!("gitdir: {}\n", evil.join(".git").display()),
            );
        }
        write(stage.folder().join(".gitattributes"), "* filter=evil\n");
        stage.plain_git(&["status"]);
        assert!(stage.mark.exists(), "{replacement}: the control is dead");
        fs::remove_file(&stage.mark).unwrap();

        write(stage.folder().join("work.txt"), "work\n");
        let done = repository
            .auto_commit(&stage.worktree, "work", at(1))
            .unwrap();
        assert_eq!(stage.project.head("symphony/SYM-1"), done.head);
        let changes = repository
            .fingerprint(&stage.worktree)
            .unwrap()
            .changes_since(&before);
        assert_eq!(changes, vec![".git"]);
        let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
        assert!(matches!(error, WorkspaceError::Tampered { .. }), "{error}");
        assert!(!stage.mark.exists(), "{replacement}: the program ran");
    }
}

#[test]
fn the_fingerprint_names_what_was_planted() {
    let stage = stage();
    let repository = stage.project.open();
    let before = repository.fingerprint(&stage.worktree).unwrap();
    stage.configure("user.nickname", "harmless, and shared");
    stage.configure("branch.main.remote", "origin");
    commit_file(stage.folder(), "work.txt", "work\n");
    assert_eq!(repository.fingerprint(&stage.worktree).unwrap(), before);
    stage.configure("extensions.worktreeConfig", "true");
    git(
        stage.folder(),
        &["config", "--worktree", "core.autocrlf", "input"],
    );
    assert_eq!(repository.fingerprint(&stage.worktree).unwrap(), before);
    git(
        stage.folder(),
        &["config", "--worktree", "core.fsmonitor", stage.program()],
    );
    git(
        stage.folder(),
        &["config", "--worktree", "include.path", "x"],
    );
    let git_dir = &stage.worktree.place().git_dir;
    write(git_dir.join("commondir"), "/elsewhere\n");
    let after = repository.fingerprint(&stage.worktree).unwrap();
    assert_eq!(
        after.changes_since(&before),
        vec![
            "commondir",
            "config.worktree: core.fsmonitor",
            "config.worktree: include.path"
        ]
    );
    let stored = serde_json::to_string(&after).unwrap();
    assert_eq!(
        serde_json::from_str::<symphony_workspace::Fingerprint>(&stored).unwrap(),
        after
    );
    assert!(!stored.contains("evil"), "{stored}");
}

#[test]
fn a_replaced_object_does_not_change_what_is_judged() {
    let stage = stage();
    let repository = stage.project.open();
    let real = commit_file(stage.folder(), "backdoor.txt", "backdoor\n");
    git(stage.folder(), &["reset", "-q", "--hard", "HEAD~1"]);
    let innocent = commit_file(stage.folder(), "innocent.txt", "innocent\n");
    git(
        stage.folder(),
        &["replace", real.as_str(), innocent.as_str()],
    );
    let shown = git(stage.folder(), &["show", "--stat", real.as_str()]);
    assert!(
        shown.contains("innocent.txt"),
        "the control is dead: {shown}"
    );
    let base = repository.base().unwrap().commit;
    let diff = repository.diff(&base, &real, 1 << 20).unwrap();
    assert_eq!(
        diff.files.first().map(|file| file.path.as_str()),
        Some("backdoor.txt")
    );
}

/// Makes the commit graph of a repository say that a commit has this one parent. Git checks no checksum when it reads the file.
#[expect(clippy::indexing_slicing, reason = "a file that git has just written")]
fn forge_parent(graph: &Path, commit: &str, parent: &str) {
    let mut bytes = fs::read(graph).unwrap();
    let number = |at: usize, len: usize| {
        let bytes = &bytes[at..at + len];
        bytes
            .iter()
            .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    // format: gitformat-commit-graph(5); 12 bytes a chunk follow the header
    let chunk = |id: &[u8]| {
        let rows = (0..usize::from(bytes[6])).map(|row| 8 + row * 12);
        let row = rows.clone().find(|at| &bytes[*at..*at + 4] == id).unwrap();
        number(row + 4, 8)
    };
    let (fanout, ids, data) = (chunk(b"OIDF"), chunk(b"OIDL"), chunk(b"CDAT"));
    let count = number(fanout + 255 * 4, 4);
    let position = |wanted: &str| {
        let id = |at: usize| {
            let start = ids + at * 20;
            git2::Oid::from_bytes(&bytes[start..start + 20]).unwrap()
        };
        (0..count).find(|at| id(*at).to_string() == wanted).unwrap()
    };
    let (commit, parent) = (position(commit), u32::try_from(position(parent)).unwrap());
    let at = data + commit * 36 + 20;
    bytes[at..at + 4].copy_from_slice(&parent.to_be_bytes());
    unlock(graph);
    fs::write(graph, bytes).unwrap();
}

/// Makes a file writable that git wrote read-only.
fn unlock(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn history_is_read_from_the_commits_whatever_files_say_about_it() {
    for forge in ["graft", "commit graph"] {
        let stage = stage();
        let repository = stage.project.open();
        let base = git(stage.folder(), &["rev-parse", "HEAD"]);
        let base = symphony_workspace::CommitId::parse(base.trim()).unwrap();
        let hidden = commit_file(stage.folder(), "evil.txt", "evil");
        let head = commit_file(stage.folder(), "fine.txt", "fine");
        let folder = stage.project.root.join(".git");
        // the base is said to have the hidden commit, which is said to have no parents of its own
        if forge == "graft" {
            write(
                folder.join("info/grafts"),
                &format!("{base} {hidden}\n{hidden}\n"),
            );
        } else {
            git(
                stage.folder(),
                &[
                    "-c",
                    "commitGraph.generationVersion=1",
                    "commit-graph",
                    "write",
                    "--reachable",
                ],
            );
            let graph = folder.join("objects/info/commit-graph");
            forge_parent(&graph, base.as_str(), hidden.as_str());
        }
        let library = git2::Repository::open(&stage.project.root).unwrap();
        let id =
            |commit: &symphony_workspace::CommitId| git2::Oid::from_str(commit.as_str()).unwrap();
        let believed = library.merge_base(id(&base), id(&head));
        assert_ne!(
            believed.ok(),
            Some(id(&base)),
            "{forge}: the control is dead"
        );
        assert_eq!(
            repository.commits_ahead(&base, &head).unwrap(),
            2,
            "{forge}"
        );
        assert!(!repository.is_merged(&hidden, &base).unwrap(), "{forge}");
        assert!(repository.is_merged(&base, &head).unwrap(), "{forge}");
        let diff = repository.diff(&base, &head, 1 << 20).unwrap();
        let files: Vec<&str> = diff.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["evil.txt", "fine.txt"], "{forge}");
    }
}

#[test]
fn nothing_is_fetched_by_a_planted_transport() {
    let stage = stage();
    let repository = stage.project.open();
    let head = commit_file(stage.folder(), "work.txt", "work\n");
    let blob = git(stage.folder(), &["rev-parse", "HEAD:work.txt"]);
    let (folder, file) = blob.split_at(2);
    fs::remove_file(
        stage
            .project
            .root
            .join(".git/objects")
            .join(folder)
            .join(file),
    )
    .unwrap();
    stage.configure("core.repositoryFormatVersion", "1");
    stage.configure("extensions.partialClone", "origin");
    stage.configure("remote.origin.promisor", "true");
    stage.configure("core.sshCommand", stage.program());
    stage.configure("protocol.ext.allow", "always");
    for url in [
        "ssh://host/x".to_owned(),
        format!("ext::{} x", stage.program()),
    ] {
        stage.configure("remote.origin.url", &url);
        stage.plain_git(&["cat-file", "-p", "HEAD:work.txt"]);
        assert!(stage.mark.exists(), "{url}: the control is dead");
        fs::remove_file(&stage.mark).unwrap();
        let base = repository.base().unwrap().commit;
        assert!(repository.diff(&base, &head, 1 << 20).is_err());
        assert_eq!(repository.file_at(&head, "work.txt", 100).unwrap(), None);
        repository.status(&stage.worktree).unwrap();
        assert!(!stage.mark.exists(), "{url}: the program ran");
    }
}

#[test]
fn a_configured_work_tree_is_not_obeyed() {
    let stage = stage();
    let repository = stage.project.open();
    let elsewhere = stage.project.root.with_file_name("elsewhere");
    write(elsewhere.join("precious.txt"), "precious\n");
    stage.configure("core.worktree", elsewhere.to_str().unwrap());
    let head = commit_in(&stage, &repository);
    repository.reset_to(&stage.worktree, &head, at(2)).unwrap();
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    assert_eq!(read(elsewhere.join("precious.txt")), "precious\n");
}

fn commit_in(
    stage: &Stage,
    repository: &symphony_workspace::Repository,
) -> symphony_workspace::CommitId {
    write(stage.folder().join("work.txt"), "work\n");
    repository
        .auto_commit(&stage.worktree, "work", at(1))
        .unwrap()
        .head
}

#[test]
fn another_common_folder_is_refused() {
    for planted in ["worktree", "project"] {
        let stage = stage();
        let repository = stage.project.open();
        let evil = stage.project.root.with_file_name("evil-common");
        git(
            &stage.project.root,
            &["clone", "-q", "--bare", ".", evil.to_str().unwrap()],
        );
        git(&evil, &["config", "core.bare", "false"]);
        git(&evil, &["config", "core.fsmonitor", stage.program()]);
        let before = git(&evil, &["for-each-ref"]);
        let pointer = if planted == "worktree" {
            stage.worktree.place().git_dir.join("commondir")
        } else {
            stage.project.root.join(".git/commondir")
        };
        let honest = fs::read_to_string(&pointer).ok();
        write(&pointer, evil.to_str().unwrap());
        let folder = if planted == "worktree" {
            stage.folder()
        } else {
            &stage.project.root
        };
        git_in(folder, &["status"]);
        assert!(stage.mark.exists(), "{planted}: the control is dead");
        fs::remove_file(&stage.mark).unwrap();

        write(stage.folder().join("work.txt"), "work\n");
        if planted == "worktree" {
            let error = repository
                .auto_commit(&stage.worktree, "work", at(1))
                .unwrap_err();
            assert!(matches!(error, WorkspaceError::Tampered { .. }), "{error}");
        }
        let error = prepare(&repository, BaseMerge::Merge).unwrap_err();
        assert!(matches!(error, WorkspaceError::Tampered { .. }), "{error}");
        assert_eq!(git(&evil, &["for-each-ref"]), before);
        assert!(!stage.mark.exists(), "{planted}: the program ran");

        // A human mends it, and the work is there.
        match honest {
            Some(text) => write(&pointer, &text),
            None => fs::remove_file(&pointer).unwrap(),
        }
        let done = repository
            .auto_commit(&stage.worktree, "work", at(1))
            .unwrap();
        assert_eq!(stage.project.head("symphony/SYM-1"), done.head);
    }
}

#[test]
fn nothing_of_another_common_folder_is_read() {
    let stage = stage();
    let repository = stage.project.open();
    let root = &stage.project.root;
    let evil = root.with_file_name("evil-common");
    git(
        root,
        &["clone", "-q", "--bare", ".", evil.to_str().unwrap()],
    );
    let tree = git(&evil, &["rev-parse", "main^{tree}"]);
    let planted = ["commit-tree", "-p", "main", "-m", "planted", &tree];
    let planted = git(&evil, &planted);
    git(&evil, &["update-ref", "refs/heads/planted", &planted]);
    git(&evil, &["tag", "planted", "planted"]);
    let commit = symphony_workspace::CommitId::parse(&planted).unwrap();
    write(root.join(".git/commondir"), evil.to_str().unwrap());
    let seen = git(root, &["rev-parse", "planted"]);
    assert_eq!(seen, planted, "the control is dead");

    let reads = [
        repository.branches().map(drop),
        repository.tags().map(drop),
        repository.branch_head(&branch("planted")).map(drop),
        repository.has_commit(&commit).map(drop),
        repository.tree_of(&commit).map(drop),
    ];
    for (number, read) in reads.into_iter().enumerate() {
        let error = read.unwrap_err();
        let is_refused = matches!(error, WorkspaceError::Tampered { .. });
        assert!(is_refused, "{number}: {error}");
    }
}
