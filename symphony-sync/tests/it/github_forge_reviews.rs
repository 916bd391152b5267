//! Reviews, their comments, replies, and the conversation.

use symphony_fakes::{Fault as Planned, On};
use symphony_forge::remote::{PullNumber, RemoteLines, ReviewVerdict, Standing};
use symphony_sync::Fault;
use symphony_tracker::remote::ExternalId;

use crate::forge_harness::{forge, with_pull};

#[tokio::test]
async fn reviews_are_read_with_their_verdicts() {
    let (fake, number, head) = with_pull();
    fake.with(|world| {
        world.add_review(2, number, "COMMENTED", "First\r\nlook", &[]);
        world.add_review(1, number, "CHANGES_REQUESTED", "No", &[]);
        world.add_review(1, number, "APPROVED", "", &[]);
        let id = world.add_review(1, number, "APPROVED", "", &[]);
        world.edit_review(id, |review| review.state = "DISMISSED".to_owned());
        let id = world.add_review(1, number, "APPROVED", "not sent", &[]);
        world.edit_review(id, |review| review.state = "PENDING".to_owned());
    });
    let reviews = forge(&fake).reviews(PullNumber::new(number)).await.unwrap();
    let verdicts: Vec<_> = reviews.iter().map(|review| review.verdict).collect();
    let expected = [
        ReviewVerdict::Commented,
        ReviewVerdict::ChangesRequested,
        ReviewVerdict::Approved,
        ReviewVerdict::Dismissed,
    ];
    assert_eq!(verdicts, expected);
    let standings: Vec<_> = reviews.iter().map(|review| review.standing).collect();
    assert_eq!(standings[..2], [Standing::Stranger, Standing::Member]);
    let first = &reviews[0];
    assert_eq!(
        (first.body.as_str(), first.commit.as_deref()),
        ("First\nlook", Some(head.as_str()))
    );
    assert_eq!(first.author.as_ref().unwrap().login, "mallory");
    assert!(reviews.is_sorted_by_key(|review| review.at));
}

#[tokio::test]
async fn comments_have_their_place_their_review_and_their_thread() {
    let (fake, number, head) = with_pull();
    let (review, first, reply) = fake.with(|world| {
        let review = world.add_review(
            1,
            number,
            "CHANGES_REQUESTED",
            "",
            &[("src/a.txt", 2, "Why?")],
        );
        let first = world.review_comments(number)[0].id;
        (review, first, world.reply(2, first, "Because."))
    });
    let found = forge(&fake)
        .review_comments(PullNumber::new(number))
        .await
        .unwrap();
    let id = |number: u64| ExternalId::new(number.to_string());
    assert_eq!(
        (found[0].id.clone(), found[1].id.clone()),
        (id(first), id(reply))
    );
    assert_eq!(
        (found[0].review.clone(), found[0].reply_to.clone()),
        (Some(id(review)), None)
    );
    assert_eq!(found[1].reply_to, Some(id(first)));
    assert_eq!(found[0].path, "src/a.txt");
    assert_eq!(found[0].lines, Some(RemoteLines { first: 2, last: 2 }));
    assert_eq!(found[0].commit.as_deref(), Some(head.as_str()));
    assert_eq!(
        (found[0].body.as_str(), found[0].standing),
        ("Why?", Standing::Member)
    );
}

#[tokio::test]
async fn a_comment_whose_lines_are_gone_is_about_the_commit_that_its_author_saw() {
    let (fake, number, head) = with_pull();
    let later = fake.with(|world| {
        let lines = [("src/a.txt", 2, "Gone"), ("README.md", 1, "Stays")];
        let review = world.add_review(1, number, "COMMENTED", "", &lines);
        let removed = world.add_line_comment(1, review, "src/a.txt", 1, "Removed");
        let file = world.add_line_comment(1, review, "README.md", 1, "File");
        let range = world.add_line_comment(1, review, "README.md", 3, "Range");
        world.edit_review_comment(removed, |comment| comment.is_on_removed = true);
        world.edit_review_comment(range, |comment| comment.start_line = Some(1));
        world.edit_review_comment(file, |comment| {
            comment.line = None;
            comment.original_line = None;
        });
        world.push_file(1, "topic", "src/a.txt", "other")
    });
    let found = forge(&fake)
        .review_comments(PullNumber::new(number))
        .await
        .unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one.body.as_str(),
                one.lines.map(|lines| (lines.first, lines.last)),
                one.commit.as_deref(),
            )
        })
        .collect();
    let (head, later) = (Some(head.as_str()), Some(later.as_str()));
    let expected = [
        ("Gone", None, head),
        ("Stays", Some((1, 1)), later),
        ("Removed", None, head),
        ("File", None, head),
        ("Range", Some((1, 3)), later),
    ];
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn all_pages_are_read_however_they_come() {
    let (fake, number, _) = with_pull();
    fake.with(|world| {
        for n in 0..250 {
            let body = format!("Text {n}");
            world.add_review(1, number, "COMMENTED", &body, &[("src/a.txt", 1, &body)]);
            world.add_comment(2, number, &body);
        }
    });
    let number = PullNumber::new(number);
    let forge = forge(&fake);
    for planned in [None, Some(Planned::Duplicated), Some(Planned::Reversed)] {
        if let Some(planned) = planned {
            fake.fail(On::any(), planned);
        }
        let reviews = forge.reviews(number).await.unwrap();
        let comments = forge.review_comments(number).await.unwrap();
        let conversation = forge.comments(number).await.unwrap();
        let lengths = [reviews.len(), comments.len(), conversation.len()];
        assert_eq!(lengths, [250, 250, 250]);
        let expected = (0..250).map(|n| format!("Text {n}"));
        let texts = |bodies: Vec<&str>| assert!(bodies.into_iter().eq(expected.clone()));
        texts(reviews.iter().map(|one| one.body.as_str()).collect());
        texts(comments.iter().map(|one| one.body.as_str()).collect());
        texts(conversation.iter().map(|one| one.body.as_str()).collect());
        fake.heal();
    }
}

#[tokio::test]
async fn comments_and_replies_are_written() {
    let (fake, number, _) = with_pull();
    let first = fake.with(|world| {
        world.add_review(1, number, "COMMENTED", "", &[("src/a.txt", 1, "Why?")]);
        world.review_comments(number)[0].id
    });
    let forge = forge(&fake);
    let there = PullNumber::new(number);
    let id = forge.add_comment(there, "Pushed.").await.unwrap();
    let found = forge.comments(there).await.unwrap();
    assert_eq!(
        (found[0].id.clone(), found[0].body.as_str()),
        (id, "Pushed.")
    );
    assert_eq!(found[0].issue.as_str(), number.to_string());
    let thread = ExternalId::new(first.to_string());
    let reply = forge.reply(there, &thread, "Fixed.").await.unwrap();
    let found = forge.review_comments(there).await.unwrap();
    assert_eq!(
        (found[1].id.clone(), found[1].reply_to.clone()),
        (reply.clone(), Some(thread))
    );
    // only the first comment of a thread takes replies
    for wrong in [reply, ExternalId::new("999999"), ExternalId::new("x")] {
        let fault = forge.reply(there, &wrong, "Again.").await.unwrap_err();
        assert!(matches!(fault, Fault::NotFound { .. }), "{fault:?}");
    }
}

#[tokio::test]
async fn of_a_very_long_list_the_newest_are_read() {
    let (fake, number, _) = with_pull();
    let (first, last) = fake.with(|world| {
        let review = world.add_review(2, number, "COMMENTED", "", &[]);
        let ids: Vec<u64> = (0..2_150)
            .map(|_| world.add_line_comment(2, review, "src/a.txt", 1, "Spam"))
            .collect();
        (ids[0], ids[2_149])
    });
    let number = PullNumber::new(number);
    let comments = forge(&fake).review_comments(number).await.unwrap();
    let has = |id: u64| {
        let id = ExternalId::new(id.to_string());
        comments.iter().any(|comment| comment.id == id)
    };
    assert!(has(first) && has(last));
    assert_eq!(comments.len(), 1_950);
}
