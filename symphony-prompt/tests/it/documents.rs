//! The serde form of the input types.

use symphony_prompt::{AgentType, PromptInput, build_document};

use crate::rich;

fn documents() -> Vec<PromptInput> {
    vec![
        PromptInput::ProfileDispatch(Box::new(rich::judge_of_pull_request())),
        PromptInput::ProfileDispatch(Box::new(rich::judge_of_phase())),
        PromptInput::PhaseDispatch(Box::new(rich::phase(AgentType::Architect, "architecture"))),
        PromptInput::BackgroundDispatch(Box::new(rich::background(AgentType::Scanner))),
        PromptInput::SetupWizard(Box::new(rich::wizard())),
        PromptInput::PlanPhase(Box::new(rich::plan_phase())),
    ]
}

#[test]
fn documents_survive_json_and_build_the_same_prompt() {
    for document in documents() {
        let json = serde_json::to_string(&document).unwrap();
        let back: PromptInput = serde_json::from_str(&json).unwrap();
        assert_eq!(back, document);
        let built = build_document(&document).unwrap();
        assert_eq!(build_document(&back).unwrap(), built);
        let report = serde_json::to_string(&built.report).unwrap();
        assert_eq!(
            serde_json::from_str::<symphony_prompt::Report>(&report).unwrap(),
            built.report
        );
    }
}

#[test]
fn unknown_fields_and_bad_values_are_named() {
    for (json, expected) in [
        (r#"{"profile": {}}"#, "unknown variant `profile`"),
        (
            r#"{"setup_wizard": {"workspace": {"identifier": "x", "path": "/w"}, "promt": ""}}"#,
            "unknown field `promt`",
        ),
        (
            r#"{"profile_dispatch": {"agent": "No Such"}}"#,
            "`No Such` is not an agent type",
        ),
        (
            r#"{"setup_wizard": {"workspace": {"identifier": "x", "path": "/w"},
                "budgets": {"shares": {"description": 99, "findings": 0, "learnings": 0, "comments": 0, "previous_output": 0}}}}"#,
            "budget shares add up to 99, expected 100",
        ),
    ] {
        let error = serde_json::from_str::<PromptInput>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_phase_has_conventions_and_whole_artifacts_unless_it_says_otherwise() {
    let json = r#"{"phase_dispatch": {"agent": "architect", "workspace": {"identifier": "x", "path": "/w"},
        "issue": {"identifier": "A-1", "title": "t"}, "assignment": {"phase": "architecture"},
        "fence_marker": "5d3c0f9a1e7b4826"}}"#;
    let Ok(PromptInput::PhaseDispatch(dispatch)) = serde_json::from_str(json) else {
        panic!("a phase dispatch is read");
    };
    assert!(dispatch.phase_conventions && dispatch.prefer_full_text);
}

#[test]
fn a_bad_fence_marker_is_refused() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.fence_marker = "short".to_owned();
    assert_eq!(
        dispatch.build().unwrap_err().to_string(),
        "fence marker `short` is not usable: expected 16 to 64 random ASCII letters, digits, `-` or `_`"
    );
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_names_every_path() {
    let schema = serde_json::to_value(symphony_prompt::schema::document_schema()).unwrap();
    let text = schema.to_string();
    for path in [
        "profile_dispatch",
        "phase_dispatch",
        "background_dispatch",
        "setup_wizard",
        "plan_phase",
    ] {
        assert!(text.contains(path), "{path}");
    }
    let worker = serde_json::to_value(symphony_prompt::schema::worker_schema()).unwrap();
    assert_eq!(worker["required"], serde_json::json!(["phase"]));
}
