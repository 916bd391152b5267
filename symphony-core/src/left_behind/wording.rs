//! What a run left, in sentences: for the inbox, `runs show` and comments.

use super::path::{LeftBehind, LeftKind, shared_changes};
use crate::config_change::{AtWork, SharedChanges, config_change_text, setting_text};
use crate::listing::list_few;
use crate::shared_refs::lost_refs_text;
use crate::wording::capitalised;

/// Paths that a sentence for a person names.
const SENTENCE_MAX: usize = 5;

/// Describes what is left behind in one sentence, for the inbox.
pub fn left_behind_text(left: &[LeftBehind], at_work: AtWork) -> String {
    sentences(left, at_work, SENTENCE_MAX).join("; ")
}

/// Returns the same as sentences that begin with a capital letter and name every path, for `runs show`.
pub fn left_behind_sentences(left: &[LeftBehind], at_work: AtWork) -> Vec<String> {
    let all = sentences(left, at_work, usize::MAX);
    all.iter().map(|text| capitalised(text)).collect()
}

fn sentences(left: &[LeftBehind], at_work: AtWork, named_max: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut parts = Vec::new();
    for kind in LeftKind::ALL {
        let paths: Vec<&str> = left
            .iter()
            .filter(|left| left.kind == *kind)
            .map(|left| left.path.as_str())
            .collect();
        if paths.is_empty() {
            continue;
        }
        let many = paths.len() > 1;
        let what = match (kind, many) {
            (LeftKind::Repository, false) => "a nested git repository",
            (LeftKind::Repository, true) => "nested git repositories",
            (LeftKind::Ignored, false) => "an ignored path",
            (LeftKind::Ignored, true) => "ignored paths",
            (LeftKind::Copied, false) => "a copied file that was changed",
            (LeftKind::Copied, true) => "copied files that were changed",
            (LeftKind::Submodule, false) => "a submodule with unpublished work",
            (LeftKind::Submodule, true) => "submodules with unpublished work",
            (LeftKind::Unfiltered, false) => {
                "a file with a git filter that `git.trusted_filters` does not name"
            }
            (LeftKind::Unfiltered, true) => {
                "files with a git filter that `git.trusted_filters` does not name"
            }
            (LeftKind::PutAside, _) => {
                sentences.push(put_aside_text(&paths));
                continue;
            }
            (LeftKind::Saved, _) => {
                sentences.push(saved_text(&paths));
                continue;
            }
            (LeftKind::Setting, _) => {
                sentences.push(setting_text(&paths, at_work));
                continue;
            }
            (LeftKind::Configuration, _) => {
                sentences.push(config_change_text(&paths, at_work));
                continue;
            }
            (LeftKind::Ref, _) => {
                sentences.push(lost_refs_text(&paths, at_work));
                continue;
            }
            (LeftKind::OtherBranch | LeftKind::Unreferenced | LeftKind::Stash, _) => {
                sentences.push(elsewhere_text(*kind, &paths));
                continue;
            }
        };
        parts.push(format!(
            "{what} ({})",
            list_few(paths.iter().copied(), named_max)
        ));
    }
    if !parts.is_empty() {
        let parts = parts.join(", ");
        sentences.insert(
            0,
            format!("the run left work that is in no commit: {parts}"),
        );
    }
    sentences
}

/// Describes where the work is that came after the commit that a run handed in.
fn put_aside_text(rescues: &[&str]) -> String {
    format!(
        "the agent continued after it had handed in its work, and that later work is on no branch: it is saved as {}",
        list_few(rescues.iter().copied(), SENTENCE_MAX)
    )
}

fn saved_text(references: &[&str]) -> String {
    format!(
        "the host of the run was lost, and what its agent had done when it was last saved is on no branch: it is {}",
        list_few(references.iter().copied(), SENTENCE_MAX)
    )
}

/// Returns the comment on an issue whose agent had done something when its host was lost: whoever goes on decides about it.
pub fn saved_comment(reference: &str) -> String {
    format!(
        "{}. It may be unfinished, and no one has checked it. `git log -p {reference}` shows it; take over what is right.",
        capitalised(&saved_text(&[reference]))
    )
}

/// Describes where work of the agent is that is not on the branch of the run.
fn elsewhere_text(kind: LeftKind, places: &[&str]) -> String {
    let places = list_few(places.iter().copied(), SENTENCE_MAX);
    match kind {
        LeftKind::OtherBranch => format!(
            "the agent has commits on another branch, which are not part of the work that was handed in: {places}"
        ),
        LeftKind::Stash => format!(
            "the agent put work into the stash, which is not part of what was handed in: it is saved as {places}"
        ),
        _ => format!(
            "the agent made commits that are not on its branch (it worked on another branch or on a detached HEAD, or moved its branch away \
             from them): they are saved as {places}"
        ),
    }
}

/// Returns the comment on an issue whose later work was put aside to a rescue ref.
pub fn put_aside_comment(rescue: &str) -> String {
    format!(
        "{}. `git log -p {rescue}` shows it.",
        capitalised(&put_aside_text(&[rescue]))
    )
}

/// Returns the comment on the issue of a run during which settings of the shared git configuration, or Symphony's own
/// configuration, changed; `None` if neither did.
pub fn changes_comment(left: &[LeftBehind], at_work: AtWork) -> Option<String> {
    let SharedChanges {
        settings,
        configuration,
        refs,
    } = shared_changes(left);
    let settings = (!settings.is_empty()).then(|| {
        format!(
            "{}. Symphony left it as it is. `git config --local --list` shows it; `git config --local --unset NAME` removes a \
             setting. Attributes and hooks are files in the repository's git folder.",
            capitalised(&setting_text(&settings, at_work))
        )
    });
    let keys = (!configuration.is_empty()).then(|| {
        format!(
            "{}. Symphony left it as it is. `symphony config show` shows each value and the file that it comes from.",
            capitalised(&config_change_text(&configuration, at_work))
        )
    });
    let refs = (!refs.is_empty()).then(|| {
        format!(
            "{}. Symphony changed nothing, and keeps the commits in refs/symphony/rescue/.",
            capitalised(&lost_refs_text(&refs, at_work))
        )
    });
    let both: Vec<String> = settings.into_iter().chain(keys).chain(refs).collect();
    (!both.is_empty()).then(|| both.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_says_what_is_left_and_names_all_of_it() {
        let left = |kind, path: &str| LeftBehind {
            kind,
            path: path.to_owned(),
        };
        let ignored = (1..=6).map(|n| left(LeftKind::Ignored, &format!("f{n}")));
        let mut all: Vec<LeftBehind> = ignored.collect();
        all.push(left(LeftKind::Setting, "core.symlinks"));
        assert_eq!(
            left_behind_sentences(&all, AtWork::Agent),
            [
                "The run left work that is in no commit: ignored paths (f1, f2, f3, f4, f5, f6)",
                "During the run, the git configuration, attributes or hooks that all checkouts share changed (core.symlinks): if you did not change them, the agent may have done so",
            ]
        );
    }

    #[test]
    fn one_sentence_names_all_kinds() {
        let left = |kind, path: &str| LeftBehind {
            kind,
            path: path.to_owned(),
        };
        assert_eq!(
            left_behind_text(
                &[
                    left(LeftKind::Repository, "lib"),
                    left(LeftKind::Ignored, "a"),
                    left(LeftKind::Ignored, "b"),
                ],
                AtWork::Agent
            ),
            "the run left work that is in no commit: a nested git repository (lib), ignored paths (a, b)"
        );
    }

    #[test]
    fn a_changed_setting_is_told_apart_from_work_and_commented_on() {
        let left = |kind, path: &str| LeftBehind {
            kind,
            path: path.to_owned(),
        };
        let setting = left(LeftKind::Setting, "user.email");
        let text = left_behind_text(std::slice::from_ref(&setting), AtWork::Agent);
        assert!(!text.contains("in no commit"), "{text}");
        assert!(text.contains("(user.email)"), "{text}");
        let both = [left(LeftKind::Ignored, "a"), setting];
        let text = left_behind_text(&both, AtWork::Agent);
        assert!(
            text.starts_with(
                "the run left work that is in no commit: an ignored path (a); during the run"
            ),
            "{text}"
        );
        let comment = changes_comment(&both, AtWork::Agent).unwrap();
        assert!(comment.starts_with("During the run"), "{comment}");
        assert_eq!(changes_comment(&both[..1], AtWork::Agent), None);
    }

    #[test]
    fn a_changed_configuration_is_told_and_commented_on() {
        let gates = [LeftBehind {
            kind: LeftKind::Configuration,
            path: "gates".to_owned(),
        }];
        let text = left_behind_text(&gates, AtWork::Gates);
        assert!(
            text.starts_with("while gates ran, Symphony's configuration changed (gates)"),
            "{text}"
        );
        let comment = changes_comment(&gates, AtWork::Gates).unwrap();
        assert!(comment.contains("symphony config show"), "{comment}");
        assert!(!comment.contains("git config"), "{comment}");
    }

    #[test]
    fn what_a_lost_host_had_saved_is_shown_to_whoever_goes_on() {
        let reference = "refs/symphony/saved/SYM-1/r1";
        let left = [LeftBehind {
            kind: LeftKind::Saved,
            path: reference.to_owned(),
        }];
        let text = left_behind_text(&left, AtWork::Agent);
        assert!(text.ends_with(&format!("it is {reference}")), "{text}");
        let comment = saved_comment(reference);
        assert!(
            comment.contains(&format!("`git log -p {reference}` shows it")),
            "{comment}"
        );
        assert_eq!(changes_comment(&left, AtWork::Agent), None);
    }

    #[test]
    fn work_that_was_put_aside_is_named_by_its_ref_and_is_not_in_the_worktree() {
        let rescue = "refs/symphony/rescue/SYM-1/20261122T130500Z";
        let left = [LeftBehind {
            kind: LeftKind::PutAside,
            path: rescue.to_owned(),
        }];
        let text = left_behind_text(&left, AtWork::Agent);
        assert!(
            text.ends_with(&format!("it is saved as {rescue}")),
            "{text}"
        );
        assert!(!text.contains("in no commit"), "{text}");
        let comment = put_aside_comment(rescue);
        assert!(
            comment.ends_with(&format!("`git log -p {rescue}` shows it.")),
            "{comment}"
        );
        assert_eq!(changes_comment(&left, AtWork::Agent), None);
    }
}
