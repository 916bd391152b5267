//! What people's reviews mean here.

use std::collections::BTreeSet;

use symphony_core::review_point::{POINTS_OPEN_MAX, PointNumber, Severity};
use symphony_core::user::UserName;
use symphony_forge::reading::is_settled;
use symphony_forge::remote::{RemoteReview, RemoteReviewComment, ReviewVerdict, Standing};
use symphony_forge::review::{
    Act, Asked, Conversation, KnownComment, KnownReview, KnownThreads, News, Who,
    has_unknown_marker, plan_reviews,
};
use symphony_tracker::change::ChangeId;
use symphony_tracker::marker;

use crate::samples::{HEAD, OLD, at, comment, id, review, settings, user};

const URL: &str = "https://github.com/acme/web/pull/7";
const UUID: &str = "0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11";

fn planned(
    known: &KnownThreads,
    reviews: &[RemoteReview],
    comments: &[RemoteReviewComment],
) -> Vec<News> {
    let open: BTreeSet<PointNumber> = (1..10).map(PointNumber::new).collect();
    planned_with(known, reviews, comments, &open, None)
}

/// As [`planned`], where other points than the first nine are open, and Symphony may know who it is.
fn planned_with(
    known: &KnownThreads,
    reviews: &[RemoteReview],
    comments: &[RemoteReviewComment],
    open: &BTreeSet<PointNumber>,
    me: Option<&str>,
) -> Vec<News> {
    let settings = settings();
    let me = me.map(id);
    plan_reviews(Conversation {
        settings: &settings,
        head: HEAD,
        is_open: true,
        url: URL,
        of: "SYM-1",
        me: me.as_ref(),
        open,
        known,
        reviews,
        comments,
    })
}

fn read(verdict: ReviewVerdict) -> KnownReview {
    KnownReview {
        verdict,
        point: None,
    }
}

/// A comment that became a point.
fn became(point: u32) -> KnownComment {
    KnownComment {
        updated_at: at(2),
        point: Some(PointNumber::new(point)),
    }
}

fn approval(text: &str) -> Act {
    Act::Approve {
        by: UserName::parse("ada").unwrap(),
        text: text.to_owned(),
        points: Vec::new(),
    }
}

fn points_of(act: &Act) -> &[Asked] {
    match act {
        Act::Ask { points, .. } | Act::Approve { points, .. } => points,
        other => panic!("{other:?} has no points"),
    }
}

fn acts(reviews: &[RemoteReview], comments: &[RemoteReviewComment]) -> Vec<Act> {
    let news = planned(&KnownThreads::default(), reviews, comments);
    news.into_iter().map(|news| news.act).collect()
}

fn ada() -> Who {
    Who::Reviewer(UserName::parse("ada").unwrap())
}

fn why(act: &Act) -> &str {
    match act {
        Act::Ignore { why } => why,
        other => panic!("{other:?} is not ignored"),
    }
}

#[test]
fn requested_changes_are_points_that_send_the_work_back() {
    let reviews = [review("1", ReviewVerdict::ChangesRequested, "Not yet.\n")];
    let comments = [
        comment("2", Some("1"), "Say it in French."),
        comment("3", Some("1"), "And here."),
    ];
    let news = planned(&KnownThreads::default(), &reviews, &comments);
    assert_eq!(news.len(), 1, "{news:#?}");
    let Act::Ask {
        by,
        points,
        rejects: true,
    } = &news[0].act
    else {
        panic!("{news:#?}");
    };
    assert_eq!(*by, ada());
    let texts: Vec<&str> = points.iter().map(|p| p.point.text.as_str()).collect();
    assert_eq!(texts, ["Not yet.", "Say it in French.", "And here."]);
    assert!(points.iter().all(|p| p.point.severity == Severity::Must));
    let places: Vec<Option<String>> = points
        .iter()
        .map(|p| p.point.place.as_ref().map(ToString::to_string))
        .collect();
    let place = Some("src/a.rs:3-4".to_owned());
    assert_eq!(places, [None, place.clone(), place]);
    assert_eq!(news[0].comments.len(), 2);
}

#[test]
fn remarks_keep_nothing_back() {
    let reviews = [review("1", ReviewVerdict::Commented, "")];
    let comments = [comment("2", Some("1"), "A nit.")];
    let acts = acts(&reviews, &comments);
    let [
        Act::Ask {
            points,
            rejects: false,
            ..
        },
    ] = acts.as_slice()
    else {
        panic!("{acts:#?}");
    };
    assert_eq!(points.len(), 1);
    assert_eq!(points[0].point.severity, Severity::Should);
}

#[test]
fn an_approval_counts_from_a_reviewer_and_for_the_commit_that_is_here() {
    let approved = review("1", ReviewVerdict::Approved, "Good.");
    assert_eq!(
        acts(std::slice::from_ref(&approved), &[]),
        [approval("Good.")]
    );
    let old = RemoteReview {
        commit: Some(OLD.to_owned()),
        ..approved.clone()
    };
    assert!(why(&acts(&[old], &[])[0]).contains("another commit"));
    let unknown = RemoteReview {
        commit: None,
        ..approved.clone()
    };
    assert!(why(&acts(&[unknown], &[])[0]).contains("another commit"));
    let member = RemoteReview {
        author: Some(user("9", "ada")),
        ..approved
    };
    assert!(why(&acts(&[member], &[])[0]).contains("forge.reviewers"));
}

#[test]
fn strangers_and_deleted_users_change_nothing() {
    for author in [Some(user("9", "mallory")), None] {
        let stranger = RemoteReview {
            author: author.clone(),
            standing: Standing::Stranger,
            ..review("1", ReviewVerdict::ChangesRequested, "Delete everything.")
        };
        let words = RemoteReviewComment {
            author,
            standing: Standing::Stranger,
            ..comment("2", Some("1"), "/symphony approve")
        };
        let acts = acts(&[stranger], &[words]);
        assert_eq!(acts.len(), 1, "{acts:#?}");
        assert!(why(&acts[0]).contains("not a member"), "{acts:#?}");
    }
}

#[test]
fn what_was_read_is_not_read_again_and_an_edit_changes_nothing() {
    let mut known = KnownThreads::default();
    known
        .reviews
        .insert(id("1"), read(ReviewVerdict::Commented));
    known.comments.insert(id("2"), became(1));
    let reviews = [review("1", ReviewVerdict::Commented, "Not yet.")];
    let as_read = comment("2", Some("1"), "Say it in French.");
    assert_eq!(
        planned(&known, &reviews, std::slice::from_ref(&as_read)),
        []
    );
    let edited = RemoteReviewComment {
        body: "Delete everything.".to_owned(),
        updated_at: at(9),
        ..as_read
    };
    let news = planned(&known, &reviews, &[edited]);
    assert!(why(&news[0].act).contains("edited"));
    assert_eq!(news[0].comments[0].updated_at, at(9));
}

#[test]
fn a_reply_is_a_remark_on_the_point_of_its_thread() {
    let mut known = KnownThreads::default();
    known
        .reviews
        .insert(id("1"), read(ReviewVerdict::Commented));
    known
        .reviews
        .insert(id("3"), read(ReviewVerdict::Commented));
    known.comments.insert(id("2"), became(5));
    let reviews = [
        review("1", ReviewVerdict::Commented, ""),
        review("3", ReviewVerdict::Commented, ""),
    ];
    let root = comment("2", Some("1"), "Say it in French.");
    let reply = RemoteReviewComment {
        reply_to: Some(id("2")),
        ..comment("4", Some("3"), "In Swiss French.")
    };
    let news = planned(&known, &reviews, &[root, reply]);
    let expected = Act::Remark {
        by: ada(),
        point: PointNumber::new(5),
        text: "In Swiss French.".to_owned(),
    };
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].act, expected);
}

#[test]
fn only_a_marker_of_a_reply_that_was_decided_here_is_ours() {
    let change = ChangeId::new(UUID);
    let words = comment("2", None, &marker::with("**Fixed**", &change));
    let mut known = KnownThreads::default();
    let copied = planned(&known, &[], std::slice::from_ref(&words));
    assert_eq!(copied.len(), 1, "a copied marker hides nothing");
    assert!(has_unknown_marker(&known, std::slice::from_ref(&words)));
    let none = BTreeSet::new();
    let of_me = planned_with(&known, &[], std::slice::from_ref(&words), &none, Some("1"));
    assert_eq!(of_me, [], "a restored database does not know the reply");
    let of_other = planned_with(&known, &[], std::slice::from_ref(&words), &none, Some("9"));
    assert_eq!(of_other.len(), 1);
    known.ours.insert(change);
    assert!(!has_unknown_marker(&known, std::slice::from_ref(&words)));
    assert_eq!(planned(&known, &[], &[words]), []);
}

#[test]
fn a_review_that_is_taken_back_closes_its_points() {
    let mut known = KnownThreads::default();
    known
        .reviews
        .insert(id("1"), read(ReviewVerdict::ChangesRequested));
    known.comments.insert(id("2"), became(3));
    let reviews = [review("1", ReviewVerdict::Dismissed, "Not yet.")];
    let comments = [comment("2", Some("1"), "Say it in French.")];
    let news = planned(&known, &reviews, &comments);
    let expected = Act::TakeBack {
        points: vec![PointNumber::new(3)],
        approval: false,
    };
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].act, expected);
}

#[test]
fn it_is_taken_in_in_the_order_in_which_it_was_written() {
    let reviews = [
        review("5", ReviewVerdict::Commented, "Second."),
        review("1", ReviewVerdict::Commented, "First."),
    ];
    let comments = [comment("3", None, "Between.")];
    let texts: Vec<String> = acts(&reviews, &comments)
        .into_iter()
        .map(|act| match act {
            Act::Ask { points, .. } => points[0].point.text.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["First.", "Between.", "Second."]);
}

#[test]
fn a_long_text_and_an_odd_place_still_make_a_point() {
    let long = RemoteReviewComment {
        lines: None,
        path: String::new(),
        ..comment("2", None, &"é".repeat(5_000))
    };
    let empty = comment("3", None, " ");
    let acts = acts(&[], &[long, empty]);
    for act in acts {
        let Act::Ask { points, .. } = act else {
            panic!("{act:?}");
        };
        symphony_core::review_point::check_new(&points[0].point).unwrap();
    }
}

#[test]
fn a_request_with_more_comments_than_there_is_room_for_is_taken_in_whole() {
    let comments: Vec<RemoteReviewComment> = (2..62)
        .map(|number| comment(&number.to_string(), Some("1"), &format!("Change {number}.")))
        .collect();
    let review = [review(
        "1",
        ReviewVerdict::ChangesRequested,
        "It deletes data.",
    )];
    let known = KnownThreads::default();
    // how many points of people are open before; how many there are to be
    for (before, expected) in [(0, 50), (9, 41), (48, 2), (49, 1)] {
        let open: BTreeSet<PointNumber> = (1..=before).map(PointNumber::new).collect();
        let news = planned_with(&known, &review, &comments, &open, None);
        let [
            News {
                act:
                    Act::Ask {
                        points,
                        rejects: true,
                        ..
                    },
                ..
            },
        ] = news.as_slice()
        else {
            panic!("{news:#?}");
        };
        assert_eq!(points.len(), expected, "{before}");
        assert!(open.len() + points.len() <= POINTS_OPEN_MAX);
        let read: usize = points.iter().map(|asked| asked.comments.len()).sum();
        assert_eq!(read, comments.len(), "each comment has a point");
        assert_eq!(points.iter().filter(|asked| asked.has_text).count(), 1);
        let last = points.last().unwrap();
        let left = 61 - (expected - 1);
        let text = &last.point.text;
        assert!(
            text.starts_with(&format!("{left} more comments are at {URL}:\n- ")),
            "{text}"
        );
        assert_eq!(last.point.severity, Severity::Must);
        for asked in points {
            symphony_core::review_point::check_new(&asked.point).unwrap();
        }
    }
    let open: BTreeSet<PointNumber> = (1..=50).map(PointNumber::new).collect();
    let full = planned_with(&known, &review, &comments, &open, None);
    let Act::Keep { why } = &full[0].act else {
        panic!("{full:#?}");
    };
    assert!(
        why.contains("ada requested changes") && why.contains(URL),
        "{why}"
    );
    // an approval makes room for what comes after it
    let reviews = [
        RemoteReview {
            author: Some(user("2", "bob")),
            ..self::review("1", ReviewVerdict::ChangesRequested, "No.")
        },
        self::review("0", ReviewVerdict::Approved, ""),
    ];
    let news = planned_with(&known, &reviews, &[], &open, None);
    assert!(matches!(news[0].act, Act::Approve { .. }), "{news:#?}");
    assert!(
        matches!(news[1].act, Act::Ask { rejects: true, .. }),
        "{news:#?}"
    );
}

#[test]
fn of_a_persons_verdicts_the_newest_one_counts() {
    use ReviewVerdict::{Approved, ChangesRequested, Commented, Dismissed};
    // the verdicts in their order; what each does: `r` rejects, `a` approves, `p` gives points alone, `-` nothing
    let table: [(&[ReviewVerdict], &str); 9] = [
        (&[ChangesRequested, Approved], "pa"),
        (&[Approved, ChangesRequested], "pr"),
        (&[ChangesRequested, ChangesRequested], "pr"),
        (&[Approved, Approved], "pa"),
        (&[ChangesRequested, Commented], "rp"),
        (&[Approved, Commented], "ap"),
        (&[ChangesRequested, Dismissed], "p-"),
        (&[Approved, Dismissed], "p-"),
        (&[ChangesRequested, Commented, Approved], "ppa"),
    ];
    for (verdicts, expected) in table {
        let mut reviews = Vec::new();
        let mut comments = Vec::new();
        for (number, verdict) in (1..).zip(verdicts) {
            let (number, line) = (number.to_string(), format!("{}", number + 20));
            reviews.push(review(&number, *verdict, "Words."));
            comments.push(comment(&line, Some(&number), "At a line."));
        }
        let done: String = acts(&reviews, &comments)
            .iter()
            .map(|act| match act {
                Act::Ask { rejects: true, .. } => 'r',
                Act::Ask { points, .. } => {
                    let later = verdicts.last();
                    let is_must = points[0].point.severity == Severity::Must;
                    assert_eq!(
                        is_must,
                        later == Some(&ChangesRequested) && verdicts[0] == ChangesRequested
                    );
                    'p'
                }
                Act::Approve { .. } => 'a',
                _ => '-',
            })
            .collect();
        assert_eq!(done, expected, "{verdicts:?}");
        // within one second, too
        for review in &mut reviews {
            review.at = at(5);
        }
        reviews.reverse();
        let mut same: Vec<char> = acts(&reviews, &comments)
            .iter()
            .map(|act| match act {
                Act::Ask { rejects: true, .. } => 'r',
                Act::Ask { .. } => 'p',
                Act::Approve { .. } => 'a',
                _ => '-',
            })
            .collect();
        let mut as_before: Vec<char> = expected.chars().collect();
        same.sort_unstable();
        as_before.sort_unstable();
        assert_eq!(same, as_before, "{verdicts:?}");
    }
    // another person's approval does not undo a request
    let others = [
        RemoteReview {
            author: Some(user("2", "bob")),
            ..review("1", ChangesRequested, "No.")
        },
        review("2", Approved, ""),
    ];
    let done = acts(&others, &[]);
    assert!(
        matches!(done[0], Act::Ask { rejects: true, .. }),
        "{done:#?}"
    );
    assert!(why(&done[1]).contains("after the work was sent back"));
}

#[test]
fn an_approval_with_remarks_is_an_approval() {
    let reviews = [review("1", ReviewVerdict::Approved, "Good to go!")];
    let comments = [comment("2", Some("1"), "nit: nice")];
    let done = acts(&reviews, &comments);
    let [Act::Approve { text, points, .. }] = done.as_slice() else {
        panic!("{done:#?}");
    };
    assert_eq!(text, "Good to go!");
    assert_eq!(points.len(), 1);
    assert_eq!(points[0].point.severity, Severity::Note);
    assert_eq!(points[0].comments, [id("2")]);
    // of another commit it gives its remarks, and the log says what it does not do
    let old = [RemoteReview {
        commit: Some(OLD.to_owned()),
        ..reviews[0].clone()
    }];
    let news = planned(&KnownThreads::default(), &old, &comments);
    assert_eq!(points_of(&news[0].act).len(), 2);
    let note = news[0].note.as_deref().unwrap();
    assert!(note.contains("another commit"), "{note}");
}

#[test]
fn an_approval_that_is_taken_back_is_none_unless_another_one_is_left() {
    let mut known = KnownThreads::default();
    known.reviews.insert(id("1"), read(ReviewVerdict::Approved));
    known.reviews.insert(id("2"), read(ReviewVerdict::Approved));
    let dismissed = review("1", ReviewVerdict::Dismissed, "");
    let of_old = RemoteReview {
        commit: Some(OLD.to_owned()),
        ..dismissed.clone()
    };
    let by_stranger = RemoteReview {
        author: Some(user("9", "mallory")),
        standing: Standing::Stranger,
        ..dismissed.clone()
    };
    let by_member = RemoteReview {
        author: Some(user("9", "bob")),
        ..dismissed.clone()
    };
    let again = review("2", ReviewVerdict::Approved, "");
    let before = review("0", ReviewVerdict::Approved, "");
    let table: [(&[RemoteReview], bool); 6] = [
        (std::slice::from_ref(&dismissed), true),
        (&[before, dismissed.clone()], true),
        (&[dismissed.clone(), again], false),
        (&[of_old], false),
        (&[by_stranger], false),
        (&[by_member], false),
    ];
    for (reviews, expected) in table {
        let news = planned(&known, reviews, &[]);
        let found = news.iter().find_map(|news| match news.act {
            Act::TakeBack { approval, .. } => Some(approval),
            _ => None,
        });
        assert_eq!(found, Some(expected), "{reviews:#?}");
    }
}

#[test]
fn the_text_of_a_review_is_taken_back_with_it() {
    let mut known = KnownThreads::default();
    let text = KnownReview {
        verdict: ReviewVerdict::ChangesRequested,
        point: Some(PointNumber::new(4)),
    };
    known.reviews.insert(id("1"), text);
    let news = planned(
        &known,
        &[review("1", ReviewVerdict::Dismissed, "Not yet.")],
        &[],
    );
    let expected = Act::TakeBack {
        points: vec![PointNumber::new(4)],
        approval: false,
    };
    assert_eq!(news[0].act, expected);
}

#[test]
fn a_reply_about_a_closed_point_is_a_point_and_the_thread_goes_on_there() {
    let mut known = KnownThreads::default();
    known.comments.insert(id("2"), became(55));
    let root = comment("2", None, "Is this right?");
    let late = RemoteReviewComment {
        reply_to: Some(id("2")),
        ..comment("4", None, "It is wrong after all.")
    };
    let news = planned(&known, &[], &[root.clone(), late.clone()]);
    assert_eq!(news.len(), 1, "{news:#?}");
    let point = &points_of(&news[0].act)[0].point;
    assert_eq!(point.severity, Severity::Should);
    assert!(point.place.is_some());
    assert!(
        point.text.ends_with("It is wrong after all.") && point.text.contains("55"),
        "{point:#?}"
    );
    assert_eq!(news[0].comments[0].thread, Some(id("2")));
    // the next reply is about the new point
    let read = KnownComment {
        updated_at: at(4),
        ..became(56)
    };
    known.comments.insert(id("4"), read);
    let open = BTreeSet::from([PointNumber::new(56)]);
    let next = RemoteReviewComment {
        reply_to: Some(id("2")),
        ..comment("5", None, "Look at line 4.")
    };
    let news = planned_with(&known, &[], &[root, late, next], &open, None);
    let expected = Act::Remark {
        by: ada(),
        point: PointNumber::new(56),
        text: "Look at line 4.".to_owned(),
    };
    assert_eq!(news[0].act, expected);
}

#[test]
fn a_reply_after_an_approval_of_the_same_look_is_a_point() {
    let mut known = KnownThreads::default();
    known.comments.insert(id("2"), became(5));
    let root = comment("2", None, "Is this right?");
    let reply = |number: &str| RemoteReviewComment {
        reply_to: Some(id("2")),
        ..comment(number, None, "Hm.")
    };
    let reviews = [review("5", ReviewVerdict::Approved, "")];
    let news = planned(&known, &reviews, &[root, reply("4"), reply("6")]);
    let [before, approved, after] = news.as_slice() else {
        panic!("{news:#?}");
    };
    assert!(matches!(before.act, Act::Remark { .. }), "{news:#?}");
    assert!(matches!(approved.act, Act::Approve { .. }), "{news:#?}");
    assert!(matches!(after.act, Act::Ask { .. }), "{news:#?}");
}

#[test]
fn a_comment_of_a_review_that_is_not_read_yet_waits_for_it() {
    let early = comment("3", Some("2"), "At a line.");
    let known = KnownThreads::default();
    assert_eq!(planned(&known, &[], std::slice::from_ref(&early)), []);
    let reviews = [review("2", ReviewVerdict::ChangesRequested, "")];
    let news = planned(&known, &reviews, &[early]);
    assert!(
        matches!(news[0].act, Act::Ask { rejects: true, .. }),
        "{news:#?}"
    );
}

#[test]
fn the_second_of_the_last_change_is_over_before_a_conversation_counts_as_read() {
    for (seconds, expected) in [(-1, false), (0, false), (1, false), (2, true), (60, true)] {
        assert_eq!(is_settled(at(0), Some(at(seconds))), expected, "{seconds}");
    }
    assert!(!is_settled(at(0), None));
}
