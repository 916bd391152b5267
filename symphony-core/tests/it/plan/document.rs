//! Plan files as text: both forms, defaults, every rule, every error, with lines.

use symphony_core::plan::{
    Complexity, Plan, PlanError, PlanMetadata, PlanWarning, TIMEOUT_MS_MAX, parse_plan,
};

/// A plan file whose block begins on line 4: the first phase of an array stands on line 5.
fn file(json: &str) -> String {
    format!("# Plan\n\n```symphony-phases\n{json}\n```\n")
}

/// A phase without faults but for the fields given.
fn phase_json(fields: &str) -> String {
    let defaults = [
        ("id", "\"a\""),
        ("title", "\"A\""),
        ("objective", "\"O\""),
        ("tasks", "[\"T\"]"),
        ("success_criteria", "\"S\""),
    ];
    let mut parts: Vec<String> = defaults
        .iter()
        .filter(|(name, _)| !fields.contains(&format!("\"{name}\"")))
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    if !fields.is_empty() {
        parts.push(fields.to_owned());
    }
    format!("{{{}}}", parts.join(", "))
}

fn problems(json: &str) -> Vec<String> {
    match parse_plan(&file(json)) {
        Ok((plan, _)) => panic!("no problem in {plan:?}"),
        Err(PlanError::Invalid { problems, .. }) => {
            problems.iter().map(ToString::to_string).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

fn warnings(json: &str) -> Vec<(usize, String)> {
    let (_, warnings) = parse_plan(&file(json)).unwrap();
    let shown = |warning: &PlanWarning| (warning.line(), warning.to_string());
    warnings.iter().map(shown).collect()
}

#[test]
fn both_forms_give_the_same_phases_with_defaults() {
    let phases = format!(
        "[{}, {}]",
        phase_json(""),
        phase_json(
            "\"id\": \"b-2\", \"dependencies\": [\"a\"], \"complexity\": \"HIGH\", \"constraints\": [\"C\"], \
             \"required_context\": {\"files\": [\"src/**/*.rs\"], \"concepts\": [\"K\"], \"artifacts_from\": [\"a\"]}, \
             \"timeout_ms\": 1, \"model\": \"m\", \"provider\": \"p\""
        )
    );
    let object = format!(
        "{{\"phases\": {phases}, \"parallel_groups\": [[\"a\"], [\"b-2\"]], \
          \"metadata\": {{\"total_phases\": 2, \"notes\": \"N\"}}}}"
    );
    let (from_array, array_warnings) = parse_plan(&file(&phases)).unwrap();
    let (from_object, object_warnings) = parse_plan(&file(&object)).unwrap();
    assert_eq!((array_warnings, object_warnings), (vec![], vec![]));
    assert_eq!(from_array.phases, from_object.phases);
    assert_eq!(
        from_array,
        Plan {
            phases: from_array.phases.clone(),
            ..Plan::default()
        }
    );
    assert_eq!(
        (from_object.parallel_groups, from_object.metadata),
        (
            vec![vec!["a".to_owned()], vec!["b-2".to_owned()]],
            Some(PlanMetadata {
                total_phases: Some(2),
                estimated_parallelism: 1,
                estimated_tokens: None,
                notes: Some("N".to_owned()),
            })
        )
    );
    let [first, second] = from_array.phases.as_slice() else {
        panic!("two phases")
    };
    assert_eq!(
        *first,
        super::Phase {
            title: "A".into(),
            objective: "O".into(),
            tasks: vec!["T".into()],
            success_criteria: "S".into(),
            ..super::phase("a", &[], &[])
        }
    );
    assert_eq!(first.effective_timeout_ms(), 30 * 60_000);
    assert_eq!(second.complexity, Complexity::High);
    assert_eq!(second.effective_timeout_ms(), 1);
    assert_eq!(second.required_context.files, ["src/**/*.rs"]);
    assert_eq!(
        Complexity::ALL
            .iter()
            .map(|c| c.timeout_ms() / 60_000)
            .collect::<Vec<_>>(),
        [15, 30, 60]
    );
    let again: Plan = serde_json::from_str(&serde_json::to_string(&from_array).unwrap()).unwrap();
    assert_eq!(again, from_array);
}

#[test]
fn each_rule_has_its_message() {
    let long = "a".repeat(65);
    let bad_long = format!("A{long}");
    for (fields, expected) in [
        ("\"id\": null", "id: Phase ID is required"),
        ("\"id\": \"  \"", "id: Phase ID is required"),
        ("\"id\": 7", "id: Expected a string, found a number"),
        (
            "\"id\": \"Setup_DB\"",
            "id: Phase ID must be in kebab-case format",
        ),
        (
            "\"id\": \"a--b\"",
            "id: Phase ID must be in kebab-case format",
        ),
        (
            &format!("\"id\": \"{long}\""),
            "id: Phase ID exceeds maximum length of 64 characters",
        ),
        (
            "\"title\": \" \"",
            "title: Phase title must be a non-empty string",
        ),
        ("\"title\": 1", "title: Expected a string, found a number"),
        (
            "\"objective\": \"\"",
            "objective: Phase objective must be a non-empty string",
        ),
        ("\"tasks\": []", "tasks: At least one task is required"),
        ("\"tasks\": null", "tasks: At least one task is required"),
        (
            "\"tasks\": \"T\"",
            "tasks: Expected an array of strings, found a string",
        ),
        (
            "\"tasks\": [\"T\", \" \"]",
            "tasks[1]: Task cannot be empty",
        ),
        (
            "\"tasks\": [{}]",
            "tasks[0]: Expected a string, found an object",
        ),
        (
            "\"complexity\": \"huge\"",
            "complexity: Phase complexity must be one of: low, medium, high",
        ),
        (
            "\"complexity\": 1",
            "complexity: Phase complexity must be one of: low, medium, high",
        ),
        (
            "\"success_criteria\": \"\\n\"",
            "success_criteria: Success criteria is required",
        ),
        (
            "\"success_criteria\": [\"S\"]",
            "success_criteria: Expected a string, found an array",
        ),
        (
            "\"dependencies\": {}",
            "dependencies: Expected an array of strings, found an object",
        ),
        (
            "\"dependencies\": [\"a\"]",
            "dependencies: Phase cannot depend on itself",
        ),
        (
            "\"dependencies\": [\"x\"]",
            "dependencies: Dependency \"x\" references non-existent phase",
        ),
        (
            "\"required_context\": {\"artifacts_from\": [\"x\"]}",
            "required_context.artifacts_from: Artifact source \"x\" references non-existent phase",
        ),
        (
            "\"required_context\": {\"artifacts_from\": [\"a\"]}",
            "required_context.artifacts_from: Phase cannot depend on itself",
        ),
        (
            "\"required_context\": []",
            "required_context: Expected an object, found an array",
        ),
        (
            "\"required_context\": {\"files\": [\"ok\", \"../x\"]}",
            "required_context.files[1]: Path \"../x\" must be relative to the project and stay inside it: the path is outside the project",
        ),
        (
            "\"constraints\": [true]",
            "constraints[0]: Expected a string, found a boolean",
        ),
        (
            "\"model\": \" \"",
            "model: Model must be a non-empty string",
        ),
        (
            "\"provider\": 3",
            "provider: Expected a string, found a number",
        ),
    ] {
        assert_eq!(
            problems(&format!("[{}]", phase_json(fields))),
            [format!("phases[0].{expected}")],
            "{fields}"
        );
    }
    for timeout in ["0", "-1", "1.5", "\"5\"", &(TIMEOUT_MS_MAX + 1).to_string()] {
        let found = problems(&format!(
            "[{}]",
            phase_json(&format!("\"timeout_ms\": {timeout}"))
        ));
        assert_eq!(
            found,
            [
                "phases[0].timeout_ms: Timeout must be a whole number of milliseconds from 1 to 2592000000"
            ]
        );
    }
    assert_eq!(
        problems(&format!(
            "[{}]",
            phase_json(&format!("\"id\": \"{bad_long}\""))
        ))
        .len(),
        2
    );
    assert_eq!(
        problems("[7]"),
        ["phases[0]: Phase must be an object, found a number"]
    );
}

#[test]
fn all_problems_are_told_at_once_in_order_with_their_lines() {
    let json = r#"[
  {"id": "a", "title": "A", "objective": "O", "tasks": ["T"], "success_criteria": "S",
   "dependencies": ["c"]},
  {"id": "a",
   "title": "", "objective": "O",
   "tasks": ["T",
     ""],
   "dependencies": ["nope"], "success_criteria": "S"},
  {"title": "C"},
  {"id": "c", "title": "C", "objective": "O", "tasks": ["T"], "success_criteria": "S",
   "required_context": {
     "artifacts_from": ["a"]}}
]"#;
    let error = parse_plan(&file(json)).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    Validation errors:
      - phases[1].title: Phase title must be a non-empty string
      - phases[1].tasks[1]: Task cannot be empty
      - phases[2].id: Phase ID is required
      - phases[2].objective: Phase objective must be a non-empty string
      - phases[2].tasks: At least one task is required
      - phases[2].success_criteria: Success criteria is required
      - phases[1].id: Duplicate phase ID "a" (first seen at index 0)
      - phases[1].dependencies: Dependency "nope" references non-existent phase
      - phases[0].dependencies: Circular dependency detected: a -> c -> a
    "#);
    let PlanError::Invalid { problems, .. } = error else {
        panic!("{error}")
    };
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [8, 10, 12, 12, 12, 12, 7, 11, 6]);
    insta::assert_snapshot!(
        serde_json::to_string(&problems[8]).unwrap(),
        @r#"{"index":0,"phase_id":"a","field":"dependencies","message":"Circular dependency detected: a -> c -> a","line":6,"kind":"cycle"}"#
    );
}

#[test]
fn what_is_odd_is_a_warning() {
    for (json, expected) in [
        (
            format!("[{}]", phase_json("\"model\": \"a\",\n\"model\": \"b\"")),
            (5, "phases[0].model: given twice, the last one counts"),
        ),
        (
            format!(
                "{{\"phases\": [{}],\n\"metadata\": {{\n\"author\": 3}}}}",
                phase_json("")
            ),
            (6, "metadata.author: unknown field; it is left out"),
        ),
        (
            format!(
                "{{\"phases\": [{}],\n\"metadata\": {{\n\"total_phases\": 3}}}}",
                phase_json("")
            ),
            (6, "metadata.total_phases: says 3, but the plan has 1 phase"),
        ),
        (
            format!(
                "{{\"phases\": [{}], \"metadata\": {{\"estimated_tokens\": \"many\"}}}}",
                phase_json("")
            ),
            (
                4,
                "metadata.estimated_tokens: expected a whole number; it is left out",
            ),
        ),
        (
            format!(
                "{{\"phases\": [{}], \"parallel_groups\": [\"a\"]}}",
                phase_json("")
            ),
            (
                4,
                "parallel_groups: expected an array of arrays of ids; it is left out",
            ),
        ),
    ] {
        let (line, message) = expected;
        assert_eq!(warnings(&json), [(line, message.to_owned())], "{json}");
    }
    let twice = format!("{}{}", file(&format!("[{}]", phase_json(""))), file("[]"));
    let (plan, warnings) = parse_plan(&twice).unwrap();
    assert_eq!(plan.phases.len(), 1);
    assert_eq!(warnings, [PlanWarning::SecondBlock { line: 8 }]);
}

#[test]
fn an_unknown_field_is_an_error_that_names_the_one_that_was_meant() {
    for (json, expected) in [
        (
            format!("[{}]", phase_json("\"dependancies\": []")),
            "phases[0].dependancies: unknown field (did you mean `dependencies`?)",
        ),
        (
            format!("[{}]", phase_json("\"depends_on\": [\"b\"]")),
            "phases[0].depends_on: unknown field (did you mean `dependencies`?)",
        ),
        (
            format!("[{}]", phase_json("\"timeoutMs\": 1")),
            "phases[0].timeoutMs: unknown field (did you mean `timeout_ms`?)",
        ),
        (
            format!("[{}]", phase_json("\"zzz\": 1")),
            "phases[0].zzz: unknown field",
        ),
        (
            format!("[{}]", phase_json("\"required_context\": {\"file\": []}")),
            "phases[0].required_context.file: unknown field (did you mean `files`?)",
        ),
        (
            format!("{{\"phase\": 1,\n\"phases\": [{}]}}", phase_json("")),
            "phase: unknown field (did you mean `phases`?)",
        ),
        (
            format!("{{\"phasess\": [{}]}}", phase_json("")),
            "phasess: unknown field (did you mean `phases`?)",
        ),
        (
            format!(
                "{{\"phases\": [{}], \"metadata\": {{\"total_phase\": 1}}}}",
                phase_json("")
            ),
            "metadata.total_phase: unknown field (did you mean `total_phases`?)",
        ),
    ] {
        assert_eq!(problems(&json), [expected], "{json}");
    }
    let json = format!("{{\n\"phase\": 1, \"phases\": [{}]}}", phase_json(""));
    let Err(PlanError::Invalid { problems, .. }) = parse_plan(&file(&json)) else {
        panic!("`phase` is unknown")
    };
    insta::assert_snapshot!(
        serde_json::to_string(&problems).unwrap(),
        @r#"[{"index":null,"phase_id":null,"field":"phase","message":"unknown field (did you mean `phases`?)","line":5,"kind":"schema"}]"#
    );
}

#[test]
fn lines_are_those_of_the_file_also_in_quotes_and_list_items() {
    for markdown in [
        "# Plan\n\n> ```symphony-phases\n> [\n> {\"id\": \"a\",\n>  \"titel\": 1}]\n> ```\n",
        "# Plan\n\n1. ```symphony-phases\n   [\n   {\"id\": \"a\",\n    \"titel\": 1}]\n   ```\n",
    ] {
        let Err(PlanError::Invalid { problems, .. }) = parse_plan(markdown) else {
            panic!("the title is missing")
        };
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [6, 5, 5, 5, 5], "{problems:?}");
    }
    let error = parse_plan("> ```symphony-phases\n> [1,, 2]\n> ```\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column 6: broken JSON: expected value"
    );
}

#[test]
fn texts_that_are_no_plan_are_refused() {
    for (markdown, expected) in [
        (
            "# no plan\n".to_owned(),
            "no ```symphony-phases block found",
        ),
        (
            "```md\n```symphony-phases\n[]\n```\n".to_owned(),
            "no ```symphony-phases block found (the one on line 2 is inside the block that line 1 opens; close that block first)",
        ),
        (
            "\n```symphony-phases\n[]\n".to_owned(),
            "line 2: the ```symphony-phases block is not closed",
        ),
        (
            file("[\n {\"id\": \"ä\",, }]"),
            "line 5, column 13: broken JSON: key must be a string",
        ),
        (
            file(""),
            "line 5, column 1: broken JSON: EOF while parsing a value",
        ),
        (file("\n\n[]"), "line 6: the plan has no phases"),
        (file("{\"phases\":\n []}"), "line 5: the plan has no phases"),
        (
            file("7"),
            "line 4: expected an array of phases or an object with `phases`, found a number",
        ),
        (
            file("{\"metadata\": {}}"),
            "line 4: expected an array of phases or an object with `phases`, found an object without `phases`",
        ),
        (
            file("{\n\"phases\": \"x\"}"),
            "line 5: expected an array of phases or an object with `phases`, found a string",
        ),
    ] {
        let error = parse_plan(&markdown).unwrap_err();
        assert_eq!(error.to_string(), expected, "{markdown}");
    }
}

#[test]
fn a_cycle_over_artifacts_alone_names_that_field() {
    let json = format!(
        "[{}, {}, {}]",
        phase_json("\"required_context\": {\"artifacts_from\": [\"b\"]}"),
        phase_json("\"id\": \"b\", \"dependencies\": [\"c\"]"),
        phase_json("\"id\": \"c\", \"dependencies\": [\"a\", \"a\"]"),
    );
    assert_eq!(
        problems(&json),
        [
            "phases[0].required_context.artifacts_from: Circular dependency detected: a -> b -> c -> a"
        ]
    );
}
