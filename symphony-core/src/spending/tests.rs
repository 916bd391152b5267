//! Which cap is reached, by table; that nothing is spent twice, by property.

use proptest::prelude::*;

use super::*;

fn spent(tokens: u64, usd: u64) -> Spent {
    Spent {
        tokens: Tokens::new(tokens),
        usd: UsdMicros::new(usd * 1_000_000),
    }
}

fn cap(tokens: Option<u64>, usd: Option<u64>) -> SpendingCap {
    SpendingCap {
        tokens: tokens.map(Tokens::new),
        usd: usd.map(|usd| UsdMicros::new(usd * 1_000_000)),
    }
}

/// What a run and its surroundings spent in every row: tokens, and dollars.
fn so_far() -> SpentSoFar {
    SpentSoFar {
        run: spent(10, 1),
        issue: Some(spent(20, 2)),
        project: spent(40, 4),
        day: spent(30, 3),
    }
}

#[test]
fn the_most_decisive_cap_is_named() {
    let none = SpendingCap::default();
    for (run, issue, project, day, expected) in [
        (none, none, none, none, ""),
        (cap(Some(11), Some(2)), none, none, none, ""),
        (
            cap(Some(10), None),
            none,
            none,
            none,
            "spending cap of the run reached: 10 of 10 tokens (spending.run.tokens)",
        ),
        (
            cap(Some(11), Some(1)),
            none,
            none,
            none,
            "spending cap of the run reached: $1.0000 of $1.0000 (spending.run.usd)",
        ),
        (
            cap(Some(1), None),
            cap(Some(15), None),
            none,
            none,
            "spending cap of the issue reached: 20 of 15 tokens (spending.issue.tokens)",
        ),
        (
            cap(Some(1), None),
            none,
            cap(None, Some(4)),
            cap(Some(1), None),
            "spending cap of the project reached: $4.0000 of $4.0000 (spending.project.usd)",
        ),
        (
            cap(Some(1), None),
            none,
            cap(Some(41), None),
            cap(Some(30), None),
            "spending cap of the project's day reached: 30 of 30 tokens (spending.day.tokens)",
        ),
    ] {
        let caps = Spending {
            run,
            issue,
            project,
            day,
        };
        let found = cap_reached(&caps, &so_far());
        assert_eq!(
            found.map_or_else(String::new, |cap| cap.to_string()),
            expected
        );
    }
}

#[test]
fn a_run_without_an_issue_meets_no_cap_of_one() {
    let caps = Spending {
        issue: cap(Some(1), Some(1)),
        ..Spending::default()
    };
    let alone = SpentSoFar {
        issue: None,
        ..so_far()
    };
    assert_eq!(cap_reached(&caps, &alone), None);
    assert_eq!(issue_cap_reached(&caps, &alone), None);
    assert_eq!(usd_left(&caps, &alone), None);
}

#[test]
fn the_budget_left_is_that_of_the_nearest_cap() {
    let caps = |run, issue, day| Spending {
        run: cap(None, run),
        issue: cap(None, issue),
        day: cap(Some(1), day),
        ..Spending::default()
    };
    for (caps, expected) in [
        (Spending::default(), None),
        (caps(None, None, None), None),
        (caps(Some(5), None, None), Some(4)),
        (caps(Some(5), Some(4), Some(9)), Some(2)),
        (caps(Some(5), Some(4), Some(3)), Some(0)),
        (caps(Some(5), Some(1), None), Some(0)),
    ] {
        let left = usd_left(&caps, &so_far()).map(|usd| usd.get() / 1_000_000);
        assert_eq!(left, expected, "{caps:?}");
    }
}

#[test]
fn a_day_is_held_until_its_end_and_a_project_until_a_human_raises_the_cap() {
    let project = ProjectId::parse("demo").unwrap();
    let now: Timestamp = "2026-03-04T17:08:09Z".parse().unwrap();
    let caps = |project, day| Spending {
        project: cap(project, None),
        day: cap(day, None),
        ..Spending::default()
    };
    for (caps, expected) in [
        (Spending::default(), None),
        (caps(Some(41), Some(31)), None),
        (
            caps(None, Some(30)),
            Some("2026-03-05T00:00:00Z".parse().unwrap()),
        ),
        (caps(Some(40), Some(30)), Some(Timestamp::MAX)),
    ] {
        let spent = SpentByProject {
            in_all: spent(40, 4),
            today: spent(30, 3),
        };
        let hold = cap_hold(&project, &caps, spent, now);
        assert_eq!(hold.map(|hold| hold.until), expected, "{caps:?}");
    }
}

proptest! {
    /// However often the sums are read while a run goes on, they grow by what the run used since.
    #[test]
    fn what_is_recorded_is_not_counted_twice(others in 0..1_000_u64, recorded in 0..1_000_u64, more in 0..1_000_u64) {
        let usage = |tokens| Usage { output_tokens: Tokens::new(tokens), ..Usage::default() };
        let read = SpentSoFar {
            run: spent(recorded, 0),
            issue: Some(spent(others + recorded, 0)),
            project: spent(others + recorded, 0),
            day: spent(others, 0),
        };
        let now = read.with(&usage(recorded + more));
        prop_assert_eq!(now.run.tokens.get(), recorded + more);
        prop_assert_eq!(now.issue.map(|spent| spent.tokens.get()), Some(others + recorded + more));
        prop_assert_eq!(now.day.tokens.get(), others + more);
        prop_assert_eq!(now.with(&usage(recorded + more)), now);
    }
}
