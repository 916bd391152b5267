//! Tables of the decision.

use super::*;

const ONE: &str = "9c739da6-3bb8-4deb-a43b-fdf44ba32ba3";
const TWO: &str = "01a21808-ec2c-7013-b924-8b9e67d80d34";

fn key(agent: AgentType, task: Task) -> SessionKey {
    SessionKey {
        agent,
        task,
        phase: None,
        provider: "claude-cli".to_owned(),
        model: Some("opus".to_owned()),
    }
}

fn worker() -> SessionKey {
    key(AgentType::Worker, Task::Work)
}

fn judge() -> SessionKey {
    key(AgentType::Judge, Task::ReviewOfPullRequest)
}

fn query(key: SessionKey) -> SessionQuery {
    SessionQuery {
        mode: ResumeMode::Auto,
        form: Some(SessionForm::Uuid),
        key,
        confined: false,
        head: Some("new".to_owned()),
    }
}

/// A run that ended well, at a minute of its own.
fn past(number: i64, key: SessionKey, session: Option<&str>) -> PastRun {
    PastRun {
        run: RunId::parse(format!("run-{number}")).unwrap(),
        key,
        session: session.map(str::to_owned),
        status: RunStatus::Succeeded,
        class: None,
        confined: false,
        head: Some("old".to_owned()),
        started_at: Timestamp::from_second(60 * number).unwrap(),
        usage: Usage {
            input_tokens: crate::unit::Tokens::new(100),
            turns: 2,
            ..Usage::default()
        },
    }
}

fn planned(query: &SessionQuery, past: &[PastRun]) -> String {
    match plan_session(query, past) {
        ResumePlan::Resume { session, run, .. } => format!("{run} {session}"),
        ResumePlan::New(why) => why.name().to_owned(),
    }
}

#[test]
fn the_last_run_of_the_same_role_is_resumed() {
    let first = past(1, worker(), Some(ONE));
    let review = past(2, judge(), Some(TWO));
    let plan = plan_session(&query(worker()), &[review.clone(), first.clone()]);
    let ResumePlan::Resume {
        session,
        run,
        since,
        used,
    } = plan
    else {
        panic!("{plan:?}");
    };
    assert_eq!(session.as_str(), ONE);
    assert_eq!((run, since), (first.run.clone(), first.started_at));
    assert_eq!(used, first.usage);
    // what several runs in one session used adds up
    let second = past(3, worker(), Some(ONE));
    let plan = plan_session(&query(worker()), &[second.clone(), review, first]);
    let ResumePlan::Resume { run, used, .. } = plan else {
        panic!("{plan:?}");
    };
    assert_eq!(run, second.run);
    assert_eq!((used.input_tokens.get(), used.turns), (200, 4));
}

#[test]
fn runs_without_a_session_are_passed_over_but_not_what_they_ended_in() {
    let first = past(1, worker(), Some(ONE));
    let silent = past(2, worker(), None);
    let crashed = PastRun {
        status: RunStatus::Crashed,
        class: Some(ErrorClass::Crashed),
        ..silent.clone()
    };
    let asked = query(worker());
    assert_eq!(
        planned(&asked, &[crashed, silent.clone(), first.clone()]),
        format!("run-1 {ONE}")
    );
    assert_eq!(
        planned(&asked, std::slice::from_ref(&silent)),
        "not_reported"
    );
    assert_eq!(planned(&asked, &[]), "first");
    assert_eq!(planned(&asked, &[past(1, judge(), Some(TWO))]), "first");
    for (status, class, expected) in [
        (RunStatus::Looping, Some(ErrorClass::Looping), "looping"),
        (RunStatus::Tampered, Some(ErrorClass::Tampered), "tampered"),
        (
            RunStatus::Failed,
            Some(ErrorClass::PromptTooLong),
            "prompt_too_long",
        ),
    ] {
        let bad = PastRun {
            status,
            class,
            ..silent.clone()
        };
        assert_eq!(planned(&asked, &[bad.clone(), first.clone()]), expected);
        let bad = PastRun {
            session: Some(ONE.to_owned()),
            ..bad
        };
        assert_eq!(planned(&asked, &[bad, first.clone()]), expected);
    }
    for class in [
        ErrorClass::TimedOut,
        ErrorClass::Stalled,
        ErrorClass::MaxTurns,
        ErrorClass::RateLimited,
        ErrorClass::NoOutcome,
        ErrorClass::AgentFailed,
    ] {
        let failed = PastRun {
            status: RunStatus::Failed,
            class: Some(class),
            ..first.clone()
        };
        assert_eq!(
            planned(&asked, &[failed]),
            format!("run-1 {ONE}"),
            "{class}"
        );
    }
}

#[test]
fn each_part_of_the_key_keeps_a_session_from_others() {
    let first = past(1, worker(), Some(ONE));
    let as_asked = format!("run-1 {ONE}");
    let phase = PhaseName::parse("research").unwrap();
    let with = |change: fn(&mut SessionQuery)| {
        let mut asked = query(worker());
        change(&mut asked);
        asked
    };
    for (asked, expected) in [
        (query(worker()), as_asked.as_str()),
        (with(|asked| asked.mode = ResumeMode::Never), "never"),
        (with(|asked| asked.form = None), "unable"),
        (with(|asked| asked.key.task = Task::Other), "no_task"),
        (
            with(|asked| asked.key.provider = "codex-cli".to_owned()),
            "other_provider",
        ),
        (
            with(|asked| asked.key.model = Some("haiku".to_owned())),
            "other_model",
        ),
        (with(|asked| asked.key.model = None), "other_model"),
        (with(|asked| asked.confined = true), "other_protection"),
        (with(|asked| asked.key.agent = AgentType::Planner), "first"),
        (query(judge()), "first"),
    ] {
        assert_eq!(planned(&asked, std::slice::from_ref(&first)), expected);
    }
    let mut asked = query(worker());
    asked.key.phase = Some(phase);
    assert_eq!(planned(&asked, &[first]), "first");
}

#[test]
fn a_judge_gives_each_commit_a_verdict_of_its_own() {
    let before = past(1, judge(), Some(TWO));
    let same = PastRun {
        head: Some("new".to_owned()),
        ..past(2, judge(), Some(ONE))
    };
    assert_eq!(
        planned(&query(judge()), std::slice::from_ref(&before)),
        format!("run-1 {TWO}")
    );
    assert_eq!(planned(&query(judge()), &[same, before]), "same_commit");
    // a worker goes on where it was
    let worked = PastRun {
        head: Some("new".to_owned()),
        ..past(1, worker(), Some(ONE))
    };
    assert_eq!(planned(&query(worker()), &[worked]), format!("run-1 {ONE}"));
}

#[test]
fn what_an_agent_reports_is_no_argument_by_itself() {
    for reported in [
        "--last",
        "../judge",
        "-",
        "",
        "a b",
        "SES_1",
        &ONE.to_uppercase(),
    ] {
        let run = past(1, worker(), Some(reported));
        assert_eq!(planned(&query(worker()), &[run]), "not_an_id", "{reported}");
    }
    // a worker that names the session of its judge
    let review = past(1, judge(), Some(TWO));
    let liar = past(2, worker(), Some(TWO));
    assert_eq!(planned(&query(worker()), &[liar, review]), "of_another");
    let words = SessionQuery {
        form: Some(SessionForm::Word),
        ..query(worker())
    };
    let run = past(1, worker(), Some("ses_1"));
    assert_eq!(planned(&words, &[run]), "run-1 ses_1");
}
