//! The traps themselves: one row for each way in which a repository can name a program.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::fs;

use crate::attacks::{Stage, unmark};
use crate::project::{commit_file, executable, git, read, write};

/// One way in.
pub(crate) struct Vector {
    pub(crate) name: &'static str,
    pub(crate) plant: fn(&Stage),
    /// Lets plain git fall into the trap; none where only another version or server would.
    pub(crate) control: Option<fn(&Stage)>,
}

pub(crate) const VECTORS: &[Vector] = &[
    Vector {
        name: "hooks in the hooks folder",
        plant: |stage| {
            for hook in [
                "pre-commit",
                "prepare-commit-msg",
                "commit-msg",
                "post-commit",
                "post-checkout",
                "post-merge",
                "pre-merge-commit",
                "reference-transaction",
                "post-index-change",
                "post-rewrite",
                "pre-auto-gc",
            ] {
                let text = read(&stage.program);
                executable(&stage.project.root.join(".git/hooks").join(hook), &text);
            }
        },
        control: Some(|stage| stage.plain_git(&["commit", "-q", "--allow-empty", "-m", "x"])),
    },
    Vector {
        name: "core.hooksPath",
        plant: |stage| {
            let text = read(&stage.program);
            executable(&stage.folder().join("h/pre-commit"), &text);
            executable(&stage.folder().join("h/reference-transaction"), &text);
            executable(&stage.folder().join("h/post-checkout"), &text);
            stage.configure("core.hooksPath", stage.folder().join("h").to_str().unwrap());
        },
        control: Some(|stage| stage.plain_git(&["commit", "-q", "--allow-empty", "-m", "x"])),
    },
    Vector {
        name: "core.fsmonitor",
        plant: |stage| stage.configure("core.fsmonitor", stage.program()),
        control: Some(|stage| stage.plain_git(&["status"])),
    },
    Vector {
        name: "clean and smudge filters",
        plant: |stage| {
            stage.configure("filter.evil.clean", stage.program());
            stage.configure("filter.evil.smudge", stage.program());
            stage.configure("filter.evil.required", "true");
            write(stage.folder().join(".gitattributes"), "* filter=evil\n");
        },
        control: Some(|stage| {
            write(stage.folder().join("c.txt"), "c\n");
            stage.plain_git(&["add", "c.txt"]);
        }),
    },
    Vector {
        name: "a filter process, with attributes outside of the tree",
        plant: |stage| {
            stage.configure("filter.e=v.il.process", stage.program());
            write(
                stage.project.root.join(".git/info/attributes"),
                "* filter=e=v.il\n",
            );
        },
        control: Some(|stage| {
            write(stage.folder().join("c.txt"), "c\n");
            stage.plain_git(&["add", "c.txt"]);
        }),
    },
    Vector {
        name: "a trusted filter that only the repository names",
        plant: |stage| {
            stage.configure("filter.lfs.clean", stage.program());
            stage.configure("filter.lfs.smudge", stage.program());
            write(stage.folder().join(".gitattributes"), "* filter=lfs\n");
        },
        control: Some(|stage| {
            write(stage.folder().join("c.txt"), "c\n");
            stage.plain_git(&["add", "c.txt"]);
        }),
    },
    Vector {
        name: "core.attributesFile",
        plant: |stage| {
            stage.configure("filter.evil.clean", stage.program());
            let file = stage.project.root.with_file_name("attributes");
            write(&file, "* filter=evil\n");
            stage.configure("core.attributesFile", file.to_str().unwrap());
        },
        control: Some(|stage| {
            write(stage.folder().join("c.txt"), "c\n");
            stage.plain_git(&["add", "c.txt"]);
        }),
    },
    Vector {
        name: "textconv and diff commands",
        plant: |stage| {
            stage.configure("diff.evil.textconv", stage.program());
            stage.configure("diff.evil.command", stage.program());
            stage.configure("diff.external", stage.program());
            write(stage.folder().join(".gitattributes"), "* diff=evil\n");
            write(
                stage.project.root.join(".git/info/attributes"),
                "* diff=evil\n",
            );
        },
        control: Some(|stage| stage.plain_git(&["diff", "main~1", "main"])),
    },
    Vector {
        name: "a merge driver",
        plant: |stage| {
            stage.configure("merge.evil.driver", stage.program());
            write(
                stage.project.root.join(".git/info/attributes"),
                "* merge=evil\n",
            );
        },
        control: Some(|stage| {
            stage.plain_git(&["checkout", "-q", "--detach", "main~1"]);
            for side in ["one", "two"] {
                stage.plain_git(&["checkout", "-q", "--detach", "main"]);
                commit_file(stage.folder(), "shared.txt", side);
                stage.plain_git(&["branch", side]);
            }
            stage.plain_git(&["merge", "one"]);
        }),
    },
    Vector {
        name: "signing programs",
        plant: |stage| {
            for (key, value) in [
                ("commit.gpgSign", "true"),
                ("tag.gpgSign", "true"),
                ("merge.verifySignatures", "true"),
                ("log.showSignature", "true"),
                ("user.signingKey", "x"),
                ("gpg.program", stage.program()),
                ("gpg.openpgp.program", stage.program()),
                ("gpg.ssh.program", stage.program()),
            ] {
                stage.configure(key, value);
            }
        },
        control: Some(|stage| stage.plain_git(&["commit", "-q", "--allow-empty", "-m", "x"])),
    },
    Vector {
        name: "an included configuration",
        plant: |stage| {
            let file = stage.folder().join("innocent.txt");
            write(
                &file,
                &format!(
                    "[core]\n\tfsmonitor = {0}\n[filter \"evil\"]\n\tclean = {0}\n\tsmudge = {0}\n",
                    stage.program()
                ),
            );
            write(stage.folder().join(".gitattributes"), "* filter=evil\n");
            stage.configure("include.path", file.to_str().unwrap());
        },
        control: Some(|stage| stage.plain_git(&["status"])),
    },
    Vector {
        name: "the worktree's own configuration",
        plant: |stage| {
            stage.configure("extensions.worktreeConfig", "true");
            git(
                stage.folder(),
                &["config", "--worktree", "core.fsmonitor", stage.program()],
            );
            git(
                stage.folder(),
                &["config", "--worktree", "filter.evil.clean", stage.program()],
            );
            write(stage.folder().join(".gitattributes"), "* filter=evil\n");
        },
        control: Some(|stage| stage.plain_git(&["status"])),
    },
    Vector {
        name: "pagers, editors, aliases, credentials",
        plant: |stage| {
            for key in [
                "core.pager",
                "core.editor",
                "core.askPass",
                "core.sshCommand",
                "core.gitProxy",
                "core.alternateRefsCommand",
                "sequence.editor",
                "credential.helper",
                "uploadpack.packObjectsHook",
                "interactive.diffFilter",
                "pager.status",
            ] {
                stage.configure(key, stage.program());
            }
            let alias = format!("!{}", stage.program());
            for name in ["status", "commit", "mine"] {
                stage.configure(&format!("alias.{name}"), &alias);
            }
        },
        control: Some(|stage| stage.plain_git(&["mine"])),
    },
    Vector {
        name: "a repository inside, committed as a submodule",
        plant: |stage| {
            let inner = stage.folder().join("inner");
            fs::create_dir(&inner).unwrap();
            git(&inner, &["init", "-q"]);
            write(inner.join(".gitattributes"), "* filter=evil\n");
            commit_file(&inner, "x.txt", "x\n");
            git(&inner, &["config", "core.fsmonitor", stage.program()]);
            git(&inner, &["config", "filter.evil.clean", stage.program()]);
            git(stage.folder(), &["add", "inner"]);
            git(stage.folder(), &["commit", "-q", "-m", "inner"]);
            write(inner.join("x.txt"), "y\n");
            unmark(stage);
            stage.configure("submodule.inner.update", &format!("!{}", stage.program()));
            stage.configure("submodule.recurse", "true");
            stage.configure("diff.ignoreSubmodules", "none");
            stage.configure("status.submoduleSummary", "true");
        },
        control: Some(|stage| stage.plain_git(&["status"])),
    },
];
