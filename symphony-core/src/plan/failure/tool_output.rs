//! What test runners, compilers and linters print when the work is wrong.
//!
//! Unlike the phrases of [`patterns`](super::patterns) these are forms of whole lines, so that prose about a failure,
//! a path or a count of zero does not pass for one.

use std::sync::LazyLock;

use regex::Regex;

use super::class::FailureClass;

/// Forms of output by class. `^` and `$` are the ends of a line; case counts.
const FORMS: &[(FailureClass, &[&str])] = &[
    (FailureClass::Permanent, MISSING),
    (FailureClass::Logic, WRONG),
];

/// Something that must be installed or declared first.
const MISSING: &[&str] = &[
    // shells
    r"^(?:\S*/)?(?:ba|da|z|k)?sh: .*\b(?:command )?not found$",
    // Node.js, Vite, npm
    r"\bERR_MODULE_NOT_FOUND\b",
    r"\bFailed to resolve import\b",
    r"^npm (?:ERR!|error) [Mm]issing script",
    // Go
    r"\bno required module provides package\b",
    r"\bcannot find package\b",
    // Cargo
    r"^error: no matching package named\b",
    r"^error: failed to select a version for\b",
    r"^error: no such (?:sub)?command\b",
];

/// Tests that fail, code that does not compile, rules that are broken.
const WRONG: &[&str] = &[
    // pytest: the summary, a failed test, a failed assertion
    r"^=* ?(?:\d+ [a-z]+, )*[1-9]\d* (?:failed|errors?)(?:, \d+ [a-z]+)* in \d+(?:\.\d+)?s\b",
    r"^FAILED \S+::",
    r"^E {3,}assert\b",
    // unittest
    r"^FAILED \((?:failures|errors)=",
    // cargo test, nextest
    r"^test result: FAILED\b",
    r"^test .+ \.\.\. FAILED$",
    r"^error: (?:doc)?test failed, to rerun\b",
    r"^ *Summary \[.*\b[1-9]\d* failed\b",
    r"\bassertion `[^`\n]+` failed\b",
    r"\bthread '[^'\n]*' (?:\(\d+\) )?panicked at\b",
    // rustc, clippy, rustfmt
    r"^error: could not compile `",
    r"^(?:error|warning)\[E\d{4}\]: ",
    r"^error: aborting due to (?:\d+ )?previous errors?\b",
    r"^Diff in \S+\.rs\b",
    // go test, go build, go vet
    r"^\s*--- FAIL: ",
    r"^FAIL(?:\t.*)?$",
    r"\[(?:build|setup) failed\]$",
    r"^(?:vet: )?\S+\.go:\d+(?::\d+)?: \S",
    // Jest, Vitest
    r"^Tests: +(?:\d+ [a-z]+, )*[1-9]\d* failed\b",
    r"^ *Test Suites: +(?:\d+ [a-z]+, )*[1-9]\d* failed\b",
    r"^ *(?:Test Files|Tests) +[1-9]\d* failed\b",
    r"^ *FAIL +\S+\.(?:[cm]?[jt]sx?|vue|svelte)\b",
    r"\bTest suite failed to run\b",
    r"\bexpect\([^()\n]*\)\.(?:not\.|resolves\.|rejects\.)?to[A-Z]\w+",
    // Mocha, the runner of Node.js, Bun, TAP
    r"^ *[1-9]\d* failing$",
    r"^(?:# |ℹ )fail [1-9]\d*$",
    r"^ *[1-9]\d* fail$",
    r"^\(fail\) \S",
    r"^ *not ok \d+\b",
    // tsc, mypy, Ruff
    r"\berror TS\d{4,5}: ",
    r"^Found [1-9]\d* errors?\b",
    // ESLint, Prettier
    r"^[✖×x] [1-9]\d* problems? \([1-9]\d* errors?\b",
    r"^ +\d+:\d+ +error +\S",
    r"\bESLint found too many warnings\b",
    r"^(?:\[warn\] )?Code style issues (?:were )?found in\b",
    // RSpec, PHPUnit, Maven, Gradle
    r"^\d+ examples?, [1-9]\d* failures?\b",
    r"^FAILURES!$",
    r"\bTests run: \d+, Failures: [1-9]",
    r"^> There were failing tests\b",
];

static COMPILED: LazyLock<Vec<(FailureClass, Vec<Regex>)>> = LazyLock::new(|| {
    let compile = |form: &&str| {
        let form = format!("(?mR){form}");
        Regex::new(&form).expect("each form is compiled by a test")
    };
    FORMS
        .iter()
        .map(|(class, forms)| (*class, forms.iter().map(compile).collect()))
        .collect()
});

/// Returns the earliest piece of a text that has a form of a class.
pub(super) fn first_form(text: &str, class: FailureClass) -> Option<&str> {
    let (_, forms) = COMPILED.iter().find(|(of, _)| *of == class)?;
    let found = forms.iter().filter_map(|form| form.find(text));
    let first = found.min_by_key(regex::Match::start)?;
    Some(first.as_str().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_compiles() {
        assert_eq!(COMPILED.len(), FORMS.len());
    }
}
