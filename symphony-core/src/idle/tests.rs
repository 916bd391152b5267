//! One row for every end of a run.

use super::*;

const CLEAN: IdleFacts = IdleFacts {
    status: RunStatus::Succeeded,
    class: None,
    cap: None,
    issue: IssueStatus::InProgress,
    moved_issue: false,
    brought_something: false,
    is_refused: false,
};

fn failed(class: ErrorClass) -> IdleFacts {
    let status = match class {
        ErrorClass::TimedOut => RunStatus::TimedOut,
        ErrorClass::Stalled => RunStatus::Stalled,
        ErrorClass::Crashed => RunStatus::Crashed,
        ErrorClass::Tampered => RunStatus::Tampered,
        ErrorClass::Cancelled => RunStatus::Cancelled,
        _ => RunStatus::Failed,
    };
    IdleFacts {
        status,
        class: Some(class),
        ..CLEAN
    }
}

fn name(end: Option<IdleEnd>) -> &'static str {
    end.map_or("-", IdleEnd::name)
}

#[test]
fn every_class_of_a_failure_is_a_limit_or_says_nothing() {
    let limits: Vec<&str> = ErrorClass::ALL
        .iter()
        .filter_map(|class| idle_end(&failed(*class)))
        .map(IdleEnd::name)
        .collect();
    assert_eq!(
        limits,
        [
            "max_turns",
            "budget_exhausted",
            "timed_out",
            "stalled",
            "looping",
            "too_many_searches",
            "over_output"
        ]
    );
    for class in ErrorClass::ALL {
        let brought = IdleFacts {
            brought_something: true,
            ..failed(*class)
        };
        assert_eq!(idle_end(&brought), None, "{class}: work is progress");
        assert_eq!(run_limit(&brought), RunLimit::of(*class), "{class}");
    }
}

#[test]
fn a_run_that_moved_its_issue_brought_nothing_only_when_it_gave_it_back() {
    for issue in IssueStatus::ALL {
        let facts = IdleFacts {
            issue: *issue,
            moved_issue: true,
            ..CLEAN
        };
        let expected = match issue {
            IssueStatus::Todo => "handed_back",
            _ => "-",
        };
        assert_eq!(name(idle_end(&facts)), expected, "{issue}");
    }
    let back = IdleFacts {
        issue: IssueStatus::Todo,
        moved_issue: true,
        ..CLEAN
    };
    let rows = [
        (
            "refused before",
            IdleFacts {
                is_refused: true,
                ..back
            },
            "handed_back",
        ),
        (
            "with a commit",
            IdleFacts {
                brought_something: true,
                ..back
            },
            "-",
        ),
        (
            "then out of time",
            IdleFacts {
                issue: IssueStatus::Todo,
                moved_issue: true,
                ..failed(ErrorClass::TimedOut)
            },
            "handed_back",
        ),
        (
            "then held",
            IdleFacts {
                issue: IssueStatus::Todo,
                moved_issue: true,
                ..failed(ErrorClass::RateLimited)
            },
            "-",
        ),
        (
            "moved by a person",
            IdleFacts {
                moved_issue: false,
                ..back
            },
            "-",
        ),
    ];
    for (what, facts, expected) in rows {
        assert_eq!(name(idle_end(&facts)), expected, "{what}");
    }
}

#[test]
fn a_clean_end_and_caps_of_more_than_a_run() {
    let capped = |cap| IdleFacts {
        cap,
        ..failed(ErrorClass::BudgetExhausted)
    };
    let rows = [
        ("nothing", CLEAN, "silent"),
        (
            "refused",
            IdleFacts {
                is_refused: true,
                ..CLEAN
            },
            "-",
        ),
        (
            "the cap of the run",
            capped(Some(CapScope::Run)),
            "budget_exhausted",
        ),
        ("the CLI's own cap", capped(None), "budget_exhausted"),
        ("the cap of the issue", capped(Some(CapScope::Issue)), "-"),
        (
            "the cap of the project",
            capped(Some(CapScope::Project)),
            "-",
        ),
        ("the cap of the day", capped(Some(CapScope::Day)), "-"),
    ];
    for (what, facts, expected) in rows {
        assert_eq!(name(idle_end(&facts)), expected, "{what}");
    }
}

#[test]
fn names_are_read_back() {
    let limits = ErrorClass::ALL.iter().copied().filter_map(RunLimit::of);
    let ends = limits.map(IdleEnd::Limit);
    for end in ends.chain([IdleEnd::Silent, IdleEnd::HandedBack]) {
        assert_eq!(IdleEnd::parse(end.name()), Some(end));
    }
    assert_eq!(IdleEnd::parse("crashed"), None);
}

#[test]
fn a_person_reads_what_happened_and_what_can_be_changed() {
    let limit = |class| RunLimit::of(class).unwrap();
    let capped = IdleEnd::Limit(limit(ErrorClass::BudgetExhausted));
    let row = |end, before: &[IdleEnd]| {
        let row = IdleRow {
            end,
            before: before.to_vec(),
        };
        format!(
            "{}. {}",
            row.why("`create_pr` or `propose_done`"),
            row.advice()
        )
    };
    let texts = [
        row(IdleEnd::Silent, &[IdleEnd::Silent; 2]),
        row(IdleEnd::HandedBack, &[IdleEnd::HandedBack; 2]),
        row(capped, &[capped; 2]),
        row(capped, &[IdleEnd::HandedBack, capped]),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    3 runs in a row ended without a commit and without calling `create_pr` or `propose_done`. Say in the issue what they lacked, or split it.
    3 runs in a row gave the issue back without a commit, an answer or a sub-task. Say in the issue what they lacked, or split it.
    3 runs in a row reached the spending cap of a run without a commit, an answer or a sub-task. Raise `spending.run` in the configuration, say in the issue what they lacked, or split it.
    3 runs in a row ended without a commit, an answer or a sub-task: 2 reached the spending cap of a run, 1 gave the issue back. Raise `spending.run` in the configuration, say in the issue what they lacked, or split it.
    ");
    let limits = LimitRow {
        limit: limit(ErrorClass::TimedOut),
        before: vec![limit(ErrorClass::TimedOut), limit(ErrorClass::Stalled)],
    };
    let text = format!("{}. {}", limits.why(), limits.advice());
    insta::assert_snapshot!(text, @"3 runs in a row ended before they could hand in: 2 ran out of time, 1 fell silent. Raise `stall_timeout_ms` or `turn_timeout_ms` in the configuration, say in the issue what they lacked, or split it.");
}

#[test]
fn half_of_the_attempts_may_end_at_a_limit_but_never_less_than_three() {
    let stops = [1, 3, 5, 6, 7, 15, 16].map(limited_stops);
    assert_eq!(stops, [3, 3, 3, 3, 4, 8, 8]);
    assert_eq!(limited_stops(u32::MAX), u32::MAX / 2 + 1);
}
