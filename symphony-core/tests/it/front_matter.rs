//! Front matter: every kind of bad file has a defined result, with its place; no input panics.

use std::fmt::Write as _;

use proptest::prelude::*;
use symphony_core::contract::parse_contract;
use symphony_core::front_matter::{
    DEPTH_MAX, FILE_BYTES_MAX, FrontMatter, MATTER_BYTES_MAX, NODES_MAX, ProblemKind,
};
use symphony_core::profile::parse_profile;

/// A profile's text with the given lines of front matter behind the required ones.
fn profile(lines: &str) -> String {
    format!("---\nname: W\ntype: worker\ndescription: d\n{lines}\n---\nbody\n")
}

fn problems(text: &str) -> Vec<String> {
    let problems = parse_profile("w.md", text).expect_err("has problems");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn each_wrong_field_is_named_with_what_is_expected() {
    for (lines, expected) in [
        (
            "tools: 7",
            "w.md:5:8: tools: found the number 7, expected a list of texts",
        ),
        (
            "tools: [a, 7]",
            "w.md:5:12: tools[1]: found the number 7, expected a text",
        ),
        (
            "tools:\n  - a\n  - b: c",
            "w.md:7:5: tools[1]: found a mapping, expected a text (in quotes, since it has a `: ` in it)",
        ),
        (
            "tools: ['']",
            "w.md:5:9: tools[0]: found a blank text, expected a text",
        ),
        (
            "tool: [a]",
            "w.md:5:1: tool: unknown field; did you mean `tools`?",
        ),
        (
            "disallowed_tools: [a]",
            "w.md:5:1: disallowed_tools: unknown field; did you mean `disallowedTools`?",
        ),
        (
            "colour: red",
            "w.md:5:1: colour: unknown field, expected one of name, type, description, tools, disallowedTools, \
             agent, model, maxTurns, background",
        ),
        (
            "7: x",
            "w.md:5:1: the number 7: unknown field, expected one of name, type, description, tools, \
             disallowedTools, agent, model, maxTurns, background",
        ),
        (
            "<<: {a: b}",
            "w.md:5:1: <<: unknown field, expected one of name, type, description, tools, \
             disallowedTools, agent, model, maxTurns, background",
        ),
        (
            "name: again",
            "w.md:5:1: name: the field is given twice, first on line 2",
        ),
        (
            "maxTurns: '200'",
            "w.md:5:11: maxTurns: found `200`, expected a whole number from 1 to 10000",
        ),
        (
            "maxTurns: -1",
            "w.md:5:11: maxTurns: found the number -1, expected a whole number from 1 to 10000",
        ),
        (
            "maxTurns: 1.5",
            "w.md:5:11: maxTurns: found the number 1.5, expected a whole number from 1 to 10000",
        ),
        (
            "maxTurns: 99999999999999999999999",
            "w.md:5:11: maxTurns: found the number 99999999999999999999999, \
             expected a whole number from 1 to 10000",
        ),
        (
            "background: no",
            "w.md:5:13: background: found `no`, expected `true` or `false`",
        ),
        (
            "agent: 7",
            "w.md:5:8: agent: found the number 7, expected a text (in quotes)",
        ),
        (
            "model: 4.5",
            "w.md:5:8: model: found the number 4.5, expected a text (in quotes)",
        ),
        (
            "model: -p",
            "w.md:5:8: model: found `-p`, expected the name of a model, or `inherit`",
        ),
        (
            "model: !secret x",
            "w.md:5:8: model: found a value with the tag `secret`, expected a text",
        ),
        ("tools: *none", "w.md:5:8: invalid YAML: unknown anchor"),
        (
            "tools: [a",
            "w.md:6:1: invalid YAML: did not find expected ',' or ']', while parsing a flow sequence",
        ),
        (
            "\ttools: [a]",
            "w.md:5:1: invalid YAML: found a tab character that violates indentation, while scanning a plain scalar",
        ),
    ] {
        assert_eq!(problems(&profile(lines)), [expected], "{lines}");
    }
}

#[test]
fn a_provider_that_there_is_not_is_named_with_those_that_there_are() {
    let found = problems(&profile("agent: codex-cl"));
    let names = symphony_core::config::NamedProvider::NAMES.join(", ");
    assert_eq!(
        found,
        [format!(
            "w.md:5:8: agent: found `codex-cl`, expected one of {names}; did you mean `codex-cli`?"
        )]
    );
}

#[test]
fn all_problems_of_a_file_come_at_once_in_its_order() {
    let text = "---\nmodel: a b\ntyp: worker\nname:\ntools: all\nmaxTurns: 0\n---\n\n";
    assert_eq!(
        problems(text),
        [
            "w.md:1:1: type: missing, expected an agent type, such as `worker`",
            "w.md:1:1: description: missing, expected a text",
            "w.md:2:8: model: found `a b`, expected the name of a model, or `inherit`",
            "w.md:3:1: typ: unknown field; did you mean `type`?",
            "w.md:4:1: name: missing, expected a text",
            "w.md:5:8: tools: found `all`, expected a list of texts",
            "w.md:6:11: maxTurns: found the number 0, expected a whole number from 1 to 10000",
            "w.md:9:1: there is no text below the front matter",
        ]
    );
}

#[test]
fn a_problem_shows_its_line_as_a_compiler_would() {
    let text = profile("tools: [get_issue, 7]");
    let problems = parse_profile("profiles/worker.md", &text).unwrap_err();
    insta::assert_snapshot!(problems[0].snippet(&text), @r"
    error: tools[1]: found the number 7, expected a text
     --> profiles/worker.md:5:20
      |
    5 | tools: [get_issue, 7]
      |                    ^
    ");
}

#[test]
fn byte_order_mark_and_windows_line_ends_change_nothing() {
    let plain = profile("tools: [get_issue]");
    let windows = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    assert_eq!(
        parse_profile("w.md", &windows).unwrap(),
        parse_profile("w.md", &plain).unwrap()
    );
}

#[test]
fn aliases_within_bounds_are_resolved() {
    let profile = parse_profile(
        "w.md",
        &profile("tools: &t [get_issue]\ndisallowedTools: *t"),
    )
    .unwrap();
    assert_eq!(profile.tools, profile.disallowed_tools);
}

#[test]
fn bombs_and_deep_nesting_are_refused() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, of) in ["b", "c", "d", "e", "f", "g", "h", "i"].iter().zip('a'..) {
        let aliases = vec![format!("*{of}"); 10].join(",");
        writeln!(bomb, "{name}: &{name} [{aliases}]").unwrap();
    }
    let nested = format!("a: {}{}", "[".repeat(60), "]".repeat(60));
    let open = format!("a: {}", "{a: ".repeat(MATTER_BYTES_MAX / 4 - 10));
    let cyclic = "a: &a [*a]";
    let wide = format!("a: [{}]", "x,".repeat(NODES_MAX + 1));
    let kind = |matter: &str| {
        FrontMatter::parse("f.md", &format!("---\n{matter}\n---\n"))
            .unwrap_err()
            .kind
    };
    let values_max = NODES_MAX;
    let depth_max = DEPTH_MAX;
    assert_eq!(kind(&bomb), ProblemKind::TooManyValues { values_max });
    assert_eq!(kind(&wide), ProblemKind::TooManyValues { values_max });
    assert_eq!(kind(&nested), ProblemKind::TooDeep { depth_max });
    assert_eq!(kind(cyclic), ProblemKind::TooDeep { depth_max });
    assert_eq!(kind(&open), ProblemKind::TooDeep { depth_max });
}

#[test]
fn sizes_are_limited() {
    let body = format!("---\na: b\n---\n{}", "x".repeat(FILE_BYTES_MAX));
    let matter = format!("---\na: {}\n---\n", "x".repeat(MATTER_BYTES_MAX));
    let kind = |text: &str| FrontMatter::parse("f.md", text).unwrap_err().kind;
    assert!(matches!(kind(&body), ProblemKind::FileTooLarge { .. }));
    assert!(matches!(kind(&matter), ProblemKind::MatterTooLarge { .. }));
}

/// What the module promises of the body, written down once more.
fn normalised(body: &str) -> String {
    let body = body.replace("\r\n", "\n");
    let body = body.trim_start_matches('\n');
    body.strip_suffix('\n').unwrap_or(body).to_owned()
}

/// Pieces from which texts close to real ones are put together.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("---\n".to_owned()),
        Just("---\r\n".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("name: x\n".to_owned()),
        Just("type: worker\n".to_owned()),
        Just("phase: x\n".to_owned()),
        Just("validation: {mode: judge, structural_checks: [min_words: 3]}\n".to_owned()),
        Just("a: &a [*a, !t x]\n".to_owned()),
        Just("? [k]\n: v\n".to_owned()),
        Just("- {a: [\n".to_owned()),
        Just("*a\n".to_owned()),
        Just("!!binary x\n".to_owned()),
        Just("%YAML 1.1\n".to_owned()),
        Just("...\n".to_owned()),
        Just("x: |\n  y\n".to_owned()),
        Just("<<: *a\n".to_owned()),
        "[ -~\t\n]{0,12}",
        "\\PC{0,6}",
        any::<char>().prop_map(|c| c.to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_text_panics(pieces in prop::collection::vec(piece(), 0..14), opened in any::<bool>()) {
        let text = format!("{}{}", if opened { "---\n" } else { "" }, pieces.concat());
        for problem in parse_profile("f.md", &text).err().into_iter().flatten() {
            prop_assert!(problem.position.line >= 1 && problem.position.column >= 1);
            prop_assert!(problem.position.line <= text.lines().count() + 2, "{problem} in {text:?}");
            let escaped = !problem.to_string().contains(char::is_control);
            prop_assert!(escaped, "{}", problem);
            problem.snippet(&text);
        }
        for problem in parse_contract("f.md", &text).err().into_iter().flatten() {
            problem.snippet("");
        }
    }

    #[test]
    fn the_body_is_kept(body in "([ -~é]{0,8}(\n|\r\n|---\n| ---\n)){0,8}[ -~]{0,8}") {
        let text = format!("---\na: b\n---\n{body}");
        let file = FrontMatter::parse("f.md", &text).unwrap();
        prop_assert_eq!(file.body(), normalised(&body));
    }
}
