//! What tools really print, and the class of failure that it is.

use symphony_core::plan::failure::{
    FailureClass, FailureEvidence, FailurePatterns, classify_failure,
};

fn class_of(text: &str, patterns: Option<&FailurePatterns>) -> (FailureClass, Option<String>) {
    let found = classify_failure(&FailureEvidence {
        text,
        patterns,
        ..FailureEvidence::default()
    });
    (found.class, found.matched)
}

/// The output of a tool, the class that it is of, and what decides it.
const OUTPUTS: &[(&str, FailureClass, &str)] = &[
    // pytest
    (
        "============================= test session starts ==============================\n\
         collected 3 items\n\ntests/test_dates.py ..F                                    [100%]\n\n\
         =================================== FAILURES ===================================\n\
         >       assert parse(\"x\") == 1\nE       assert None == 1\nE        +  where None = parse('x')\n\n\
         tests/test_dates.py:7: AssertionError\n\
         =========================== short test summary info ============================\n\
         FAILED tests/test_dates.py::test_zone - assert None == 1\n\
         ========================= 1 failed, 2 passed in 0.03s ==========================\n",
        FailureClass::Logic,
        "AssertionError",
    ),
    (
        "..F\n1 failed, 2 passed in 0.03s\n",
        FailureClass::Logic,
        "1 failed, 2 passed in 0.03s",
    ),
    (
        "==================== 2 passed, 1 error in 65.20s (0:01:05) =====================",
        FailureClass::Logic,
        "==================== 2 passed, 1 error in 65.20s",
    ),
    (
        "E   ModuleNotFoundError: No module named 'httpx'\n\
         =============================== 1 error in 0.10s ===============================",
        FailureClass::Permanent,
        "ModuleNotFoundError",
    ),
    (
        "Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n",
        FailureClass::Logic,
        "FAILED (failures=",
    ),
    // cargo test
    (
        "running 2 tests\ntest tests::adds ... ok\ntest tests::parses ... FAILED\n\nfailures:\n\n\
         ---- tests::parses stdout ----\n\n\
         thread 'tests::parses' (8472) panicked at src/lib.rs:14:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n\n\
         test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
         error: test failed, to rerun pass `--lib`\n",
        FailureClass::Logic,
        "test failed",
    ),
    (
        "test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
        FailureClass::Logic,
        "test result: FAILED",
    ),
    (
        "     Summary [   0.008s] 3 tests run: 2 passed, 1 failed, 0 skipped\n",
        FailureClass::Logic,
        "Summary [   0.008s] 3 tests run: 2 passed, 1 failed",
    ),
    // rustc and cargo build
    (
        "   Compiling dates v0.1.0 (/home/u/dates)\nerror[E0308]: mismatched types\n --> src/lib.rs:3:5\n  |\n\
         3 |     1\n  |     ^ expected `&str`, found integer\n\n\
         error: could not compile `dates` (lib) due to 1 previous error\n",
        FailureClass::Logic,
        "error[E0308]:",
    ),
    (
        "error: expected one of `!` or `::`, found `x`\n --> src/lib.rs:1:4\n\nerror: could not compile `dates` (lib) due to 1 previous error\n",
        FailureClass::Logic,
        "error: could not compile `",
    ),
    (
        "error[E0382]: borrow of moved value: `x`\n\nerror: aborting due to 1 previous error\n",
        FailureClass::Logic,
        "error[E0382]:",
    ),
    (
        "error: aborting due to 2 previous errors; 1 warning emitted\n",
        FailureClass::Logic,
        "error: aborting due to 2 previous errors",
    ),
    (
        "error: no matching package named `zonez` found\nlocation searched: crates.io index\n",
        FailureClass::Permanent,
        "error: no matching package named",
    ),
    // go
    (
        "--- FAIL: TestZone (0.00s)\n    zone_test.go:9: got 1, want 2\nFAIL\nFAIL\texample.com/dates\t0.002s\nFAIL\n",
        FailureClass::Logic,
        "--- FAIL:",
    ),
    (
        "# example.com/dates\n./zone.go:5:2: undefined: parse\nFAIL\texample.com/dates [build failed]\n",
        FailureClass::Logic,
        "./zone.go:5:2: u",
    ),
    (
        "zone.go:4:2: no required module provides package github.com/x/y; to add it:\n\tgo get github.com/x/y\n",
        FailureClass::Permanent,
        "no required module provides package",
    ),
    (
        "panic: test timed out after 1s\n\nFAIL\texample.com/dates\t1.005s\n",
        FailureClass::Timeout,
        "timed out",
    ),
    // Jest
    (
        "FAIL src/zone.test.js\n  zones\n    ✕ parses (3 ms)\n\n  ● zones › parses\n\n    expect(received).toBe(expected) // Object.is equality\n\n\
         Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n",
        FailureClass::Logic,
        "FAIL src/zone.test.js",
    ),
    (
        "Tests:       1 skipped, 1 failed, 2 passed, 4 total\n",
        FailureClass::Logic,
        "Tests:       1 skipped, 1 failed",
    ),
    (
        "  ● Test suite failed to run\n\n    Cannot find module './zone' from 'src/zone.test.js'\n",
        FailureClass::Permanent,
        "Cannot find module",
    ),
    // Vitest
    (
        " FAIL  src/zone.test.ts > zones > parses\nexpected 1 to be 2 // Object.is equality\n\n\
         \x20Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n",
        FailureClass::Logic,
        "FAIL  src/zone.test.ts",
    ),
    (
        "\u{1b}[2m Test Files \u{1b}[22m \u{1b}[1m\u{1b}[31m1 failed\u{1b}[39m\u{1b}[22m\u{1b}[90m (1)\u{1b}[39m\n",
        FailureClass::Logic,
        "Test Files  1 failed",
    ),
    (
        "Error: Failed to resolve import \"./zone\" from \"src/zone.test.ts\". Does the file exist?\n",
        FailureClass::Permanent,
        "Failed to resolve import",
    ),
    // Mocha, node --test, Bun
    (
        "  zones\n    1) parses\n\n\n  2 passing (5ms)\n  1 failing\n\n  1) zones\n       parses:\n",
        FailureClass::Logic,
        "1 failing",
    ),
    (
        "# tests 3\n# pass 2\n# fail 1\n",
        FailureClass::Logic,
        "# fail 1",
    ),
    ("not ok 2 - parses\n", FailureClass::Logic, "not ok 2"),
    (
        "(fail) zones > parses [0.2ms]\n\n 2 pass\n 1 fail\n",
        FailureClass::Logic,
        "(fail) z",
    ),
    // tsc
    (
        "src/zone.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\r\n",
        FailureClass::Logic,
        "error TS2322:",
    ),
    (
        "src/zone.ts:3:5 - error TS1005: ';' expected.\n\n\nFound 1 error in src/zone.ts:3\n",
        FailureClass::Logic,
        "error TS1005:",
    ),
    (
        "Found 2 errors in 2 files.\n",
        FailureClass::Logic,
        "Found 2 errors",
    ),
    // ESLint
    (
        "\n/home/u/dates/src/zone.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n",
        FailureClass::Logic,
        "3:5  error  '",
    ),
    (
        "✖ 3 problems (2 errors, 1 warning)\n",
        FailureClass::Logic,
        "✖ 3 problems (2 errors",
    ),
    (
        "✖ 1 problem (0 errors, 1 warning)\n\nESLint found too many warnings (maximum: 0).\n",
        FailureClass::Logic,
        "ESLint found too many warnings",
    ),
    (
        "sh: 1: jest: not found\n",
        FailureClass::Permanent,
        "sh: 1: jest: not found",
    ),
    (
        "npm error Missing script: \"test\"\n",
        FailureClass::Permanent,
        "npm error Missing script",
    ),
];

#[test]
fn the_output_of_tools_has_a_class() {
    let mut wrong = Vec::new();
    for (text, class, matched) in OUTPUTS {
        let found = class_of(text, None);
        if found != (*class, Some((*matched).to_owned())) {
            wrong.push((found, *text));
        }
        let windows = text.replace('\n', "\r\n");
        assert_eq!(class_of(&windows, None).0, *class, "{windows:?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn green_output_paths_and_prose_are_no_failed_tests() {
    for (text, class) in [
        (
            "test result: ok. 3 passed; 0 failed; 0 ignored",
            FailureClass::Unknown,
        ),
        ("Tests:       3 passed, 3 total", FailureClass::Unknown),
        ("      Tests  3 passed (3)", FailureClass::Unknown),
        ("  3 passing (5ms)\n  0 failing", FailureClass::Unknown),
        (
            "Found 0 errors. Watching for file changes.",
            FailureClass::Unknown,
        ),
        ("✖ 1 problem (0 errors, 1 warning)", FailureClass::Unknown),
        ("# pass 3\n# fail 0", FailureClass::Unknown),
        (
            "========== 3 passed in 0.10s ==========",
            FailureClass::Unknown,
        ),
        ("see logs/FAIL/1 failing/x", FailureClass::Unknown),
        (
            "fixtures/E0308.rs and docs/TS2322.md",
            FailureClass::Unknown,
        ),
        ("issue 10308, build TS23225", FailureClass::Unknown),
        ("attempt 1 failed: ECONNRESET", FailureClass::Transient),
        ("2 failed, 3 to go: HTTP 503", FailureClass::Transient),
        (
            "FAIL: no answer, connection refused",
            FailureClass::Transient,
        ),
        ("1 failing node, too many requests", FailureClass::Transient),
        (
            "0 tests failed, then a network error",
            FailureClass::Transient,
        ),
        (
            "push to origin: permission denied, 1 error",
            FailureClass::Resource,
        ),
    ] {
        assert_eq!(class_of(text, None).0, class, "{text}");
    }
}

#[test]
fn patterns_of_the_project_count_before_those_of_symphony() {
    let patterns = FailurePatterns::compile(
        &[
            (
                FailureClass::Transient,
                vec![
                    "license server is busy".to_owned(),
                    r"^quota \d+".to_owned(),
                ],
            ),
            (
                FailureClass::Permanent,
                vec!["(".to_owned(), "wrong tenant".to_owned()],
            ),
        ]
        .into_iter()
        .collect(),
    );
    for (text, class, matched) in [
        (
            "1 failed in 0.1s\nLicense server is BUSY",
            FailureClass::Transient,
            Some("License server is BUSY"),
        ),
        (
            "x\nquota 7 reached",
            FailureClass::Transient,
            Some("quota 7"),
        ),
        ("the quota 7", FailureClass::Unknown, None),
        (
            "wrong tenant; license server is busy",
            FailureClass::Permanent,
            Some("wrong tenant"),
        ),
    ] {
        let found = class_of(text, Some(&patterns));
        assert_eq!((found.0, found.1.as_deref()), (class, matched), "{text}");
    }
}
