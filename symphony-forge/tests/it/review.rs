//! What people's reviews mean here.

use symphony_core::review_point::{PointNumber, Severity};
use symphony_core::user::UserName;
use symphony_forge::remote::{RemoteReview, RemoteReviewComment, ReviewVerdict, Standing};
use symphony_forge::review::{
    Act, Conversation, KnownComment, KnownThreads, News, Who, plan_reviews,
};
use symphony_tracker::change::ChangeId;
use symphony_tracker::marker;

use crate::samples::{HEAD, OLD, at, comment, id, review, settings, user};

const UUID: &str = "0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11";

fn planned(
    known: &KnownThreads,
    reviews: &[RemoteReview],
    comments: &[RemoteReviewComment],
) -> Vec<News> {
    plan_reviews(Conversation {
        settings: &settings(),
        head: HEAD,
        known,
        reviews,
        comments,
    })
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
        [Act::Approve {
            by: UserName::parse("ada").unwrap(),
            text: "Good.".to_owned()
        }]
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
        assert!(why(&acts[0]).contains("no member"), "{acts:#?}");
    }
}

#[test]
fn what_was_read_is_not_read_again_and_an_edit_changes_nothing() {
    let mut known = KnownThreads::default();
    known.reviews.insert(id("1"), ReviewVerdict::Commented);
    let read = KnownComment {
        updated_at: at(2),
        point: Some(PointNumber::new(1)),
    };
    known.comments.insert(id("2"), read);
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
    assert_eq!(news[0].comments, [(id("2"), at(9))]);
}

#[test]
fn a_reply_is_a_remark_on_the_point_of_its_thread() {
    let mut known = KnownThreads::default();
    known.reviews.insert(id("1"), ReviewVerdict::Commented);
    known.reviews.insert(id("3"), ReviewVerdict::Commented);
    let read = KnownComment {
        updated_at: at(2),
        point: Some(PointNumber::new(5)),
    };
    known.comments.insert(id("2"), read);
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
    known.ours.insert(change);
    assert_eq!(planned(&known, &[], &[words]), []);
}

#[test]
fn a_review_that_is_taken_back_closes_its_points() {
    let mut known = KnownThreads::default();
    known
        .reviews
        .insert(id("1"), ReviewVerdict::ChangesRequested);
    let read = KnownComment {
        updated_at: at(2),
        point: Some(PointNumber::new(3)),
    };
    known.comments.insert(id("2"), read);
    let reviews = [review("1", ReviewVerdict::Dismissed, "Not yet.")];
    let comments = [comment("2", Some("1"), "Say it in French.")];
    let news = planned(&known, &reviews, &comments);
    let expected = Act::TakeBack {
        points: vec![PointNumber::new(3)],
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
