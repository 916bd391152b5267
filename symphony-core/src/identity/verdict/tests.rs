//! Tables of the decision.

use super::*;

fn id(digit: char) -> InstallationId {
    InstallationId::parse(digit.to_string().repeat(32)).unwrap()
}

fn api() -> ProjectId {
    ProjectId::parse("api").unwrap()
}

fn marker(digit: char) -> Marker {
    Marker {
        installation: id(digit),
        project: api(),
        database: PathBuf::from("/p/.symphony/symphony.db"),
    }
}

/// Id of the database, what it knows, id in the marker, traces, and what is expected.
type Case = (
    Option<char>,
    ProjectPlace,
    Option<char>,
    Option<Traces>,
    String,
);

fn work() -> Traces {
    Traces {
        branches: vec!["symphony/API-1".to_owned()],
        ..Traces::default()
    }
}

fn decide(database: DatabaseState, marker: Option<Marker>, traces: Option<Traces>) -> String {
    let verdict = identify(&Facts {
        database,
        marker,
        marks: Vec::new(),
        traces,
    });
    match verdict {
        Verdict::Refused(problem) => format!("refused: {problem}"),
        Verdict::Adopt { installation, .. } => match installation {
            Some(id) => format!("adopt {}", id.as_str().trim_start_matches("aaa")),
            None => "adopt a new id".to_owned(),
        },
        other => format!("{other:?}"),
    }
}

#[test]
fn a_database_that_is_gone_is_new_only_where_nothing_was_ever_done() {
    use DatabaseState::{Empty, Missing};
    let none = || Some(Traces::default());
    for state in [Missing, Empty] {
        let word = if state == Missing { "missing" } else { "empty" };
        let lost = |found: &str| {
            format!("refused: it is {word}, but Symphony has worked here before: found {found}")
        };
        for (marker, traces, expected) in [
            (None, None, "LookForTraces".to_owned()),
            (Some(marker('a')), None, "LookForTraces".to_owned()),
            (None, none(), "New".to_owned()),
            (None, Some(work()), lost("1 branch (symphony/API-1)")),
            (
                Some(marker('a')),
                none(),
                lost("a note that names project api"),
            ),
            (
                Some(marker('a')),
                Some(work()),
                lost("1 branch (symphony/API-1)"),
            ),
        ] {
            assert_eq!(decide(state.clone(), marker, traces), expected);
        }
    }
}

#[test]
fn a_database_is_used_only_for_its_own_repositories() {
    let foreign = |found: &str| {
        format!(
            "refused: it belongs to another installation ({found}, while this repository belongs to {})",
            id('a')
        )
    };
    let moved = || ProjectPlace::Moved {
        project: api(),
        from: PathBuf::from("/old"),
    };
    let copied = || ProjectPlace::Copied {
        project: api(),
        of: PathBuf::from("/old"),
    };
    let here = || ProjectPlace::Here(api());
    let none = || Some(Traces::default());
    let stranger = "refused: it does not know this repository, where Symphony worked before: found 1 branch (symphony/API-1)";
    let adopted = "adopt aa".to_owned();
    let table: [Case; 15] = [
        (Some('a'), here(), Some('a'), None, "Ours".to_owned()),
        (
            Some('b'),
            here(),
            Some('a'),
            None,
            foreign(id('b').as_str()),
        ),
        (
            Some('b'),
            ProjectPlace::Unknown,
            Some('a'),
            None,
            foreign(id('b').as_str()),
        ),
        (
            None,
            ProjectPlace::Unknown,
            Some('a'),
            None,
            foreign("an unnamed one"),
        ),
        (Some('a'), here(), None, None, adopted.clone()),
        (None, here(), None, None, "adopt a new id".to_owned()),
        (None, here(), Some('a'), None, adopted.clone()),
        (
            Some('a'),
            ProjectPlace::Unknown,
            None,
            None,
            "LookForTraces".to_owned(),
        ),
        (
            Some('a'),
            ProjectPlace::Unknown,
            None,
            none(),
            "New".to_owned(),
        ),
        (
            Some('a'),
            ProjectPlace::Unknown,
            None,
            Some(work()),
            stranger.to_owned(),
        ),
        (
            Some('a'),
            ProjectPlace::Unknown,
            Some('a'),
            Some(work()),
            stranger.to_owned(),
        ),
        (
            None,
            ProjectPlace::Unknown,
            None,
            Some(work()),
            stranger.to_owned(),
        ),
        (
            Some('a'),
            ProjectPlace::Removed,
            None,
            None,
            "New".to_owned(),
        ),
        (
            Some('a'),
            moved(),
            Some('a'),
            None,
            "Moved { project: ProjectId(\"api\"), from: \"/old\" }".to_owned(),
        ),
        (
            Some('a'),
            copied(),
            Some('a'),
            None,
            "refused: this repository is a copy of project api, which is still at /old".to_owned(),
        ),
    ];
    for (database, project, noted, traces, expected) in table {
        let state = DatabaseState::Present {
            installation: database.map(id),
            project,
            reach: Reach::default(),
        };
        let told = format!("{state:?}");
        assert_eq!(decide(state, noted.map(marker), traces), expected, "{told}");
    }
}

/// Id of the database, what it knows, how far it is, id in the marker, marks, and what is expected.
type MarkCase = (
    Option<char>,
    ProjectPlace,
    Reach,
    Option<char>,
    Vec<Mark>,
    String,
);

#[test]
fn a_database_below_its_mark_is_refused_whatever_it_knows_of_the_repository() {
    let at = |restores, position| Reach { restores, position };
    let mark = |digit, reach| Mark {
        installation: id(digit),
        reach,
        fence: 0,
        next_numbers: std::collections::BTreeMap::new(),
    };
    let here = || ProjectPlace::Here(api());
    let older = |found: &str, noted: &str| {
        format!(
            "refused: it is an older copy of this repository's database: its log ends at {found}, but had already reached {noted}"
        )
    };
    let entries = || older("entry 11", "entry 12");
    let table: [MarkCase; 13] = [
        (
            Some('a'),
            here(),
            at(0, 12),
            Some('a'),
            vec![],
            "Ours".into(),
        ),
        (
            Some('a'),
            here(),
            at(0, 12),
            Some('a'),
            vec![mark('a', at(0, 12))],
            "Ours".into(),
        ),
        (
            Some('a'),
            here(),
            at(0, 13),
            Some('a'),
            vec![mark('a', at(0, 12))],
            "Ours".into(),
        ),
        (
            Some('a'),
            here(),
            at(0, 11),
            Some('a'),
            vec![mark('a', at(0, 12))],
            entries(),
        ),
        // of two marks the higher one counts; one of another installation says nothing
        (
            Some('a'),
            here(),
            at(0, 11),
            Some('a'),
            vec![mark('a', at(0, 3)), mark('a', at(0, 12))],
            entries(),
        ),
        (
            Some('a'),
            here(),
            at(0, 11),
            Some('a'),
            vec![mark('b', at(0, 12))],
            "Ours".into(),
        ),
        // a restored database is above all that its predecessor was, and its predecessor is an older copy
        (
            Some('a'),
            here(),
            at(1, 5),
            Some('a'),
            vec![mark('a', at(0, 12))],
            "Ours".into(),
        ),
        (
            Some('a'),
            here(),
            at(0, 12),
            Some('a'),
            vec![mark('a', at(1, 5))],
            older("entry 12", "entry 5, after 1 restore"),
        ),
        // without a marker, without an id, moved, removed, not known yet
        (
            Some('a'),
            here(),
            at(0, 11),
            None,
            vec![mark('a', at(0, 12))],
            entries(),
        ),
        (
            None,
            here(),
            at(0, 11),
            Some('a'),
            vec![mark('a', at(0, 12))],
            entries(),
        ),
        (
            Some('a'),
            ProjectPlace::Removed,
            at(0, 11),
            None,
            vec![mark('a', at(0, 12))],
            entries(),
        ),
        (
            Some('a'),
            ProjectPlace::Unknown,
            at(0, 11),
            Some('a'),
            vec![mark('a', at(0, 12))],
            entries(),
        ),
        (
            Some('a'),
            ProjectPlace::Copied {
                project: api(),
                of: PathBuf::from("/old"),
            },
            at(0, 11),
            Some('a'),
            vec![mark('a', at(0, 12))],
            "refused: this repository is a copy of project api, which is still at /old".into(),
        ),
    ];
    for (database, project, reach, noted, marks, expected) in table {
        let state = DatabaseState::Present {
            installation: database.map(id),
            project,
            reach,
        };
        let told = format!("{state:?} {marks:?}");
        let verdict = identify(&Facts {
            database: state,
            marker: noted.map(marker),
            marks,
            traces: None,
        });
        let said = match verdict {
            Verdict::Refused(problem) => format!("refused: {problem}"),
            other => format!("{other:?}"),
        };
        assert_eq!(said, expected, "{told}");
    }
}
