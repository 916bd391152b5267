//! Which lines of a red command's output say why it failed: tools end with totals, help texts and the paths of logs.

/// Lines of an excerpt that come from its beginning; the rest is its end.
const HEAD_LINES: usize = 3;

/// Returns the line that best shows why a command failed: the first failure that pytest or cargo lists, the first line
/// of npm's error, what pip could not find or reach, or else the last line that is neither a trailer nor advice.
pub fn telling_line(output: &str) -> Option<&str> {
    let said = || lines(output).filter(|line| !is_trailer(line) && !is_advice(line));
    let first = |is_it: &dyn Fn(&str) -> bool| said().find(|line| is_it(line));
    let Some(last) = said().next_back() else {
        return lines(output).next_back();
    };
    let found = match last {
        last if is_tap_total(last) => first(&|line| is_red_in_tap(line)),
        last if is_pytest_total(last) => {
            first(&|line| line.starts_with("FAILED ") || line.starts_with("ERROR "))
                .or_else(|| first(&|line| line.starts_with("E ")))
        }
        last if last.starts_with(NPM_ERROR) => first(&|line| {
            // Its codes are the kind of failure, not the failure.
            line.strip_prefix(NPM_ERROR).is_some_and(|text| {
                let codes = ["code ", "errno ", "syscall ", "path "];
                !codes.iter().any(|code| text.starts_with(code))
            })
        }),
        last if is_of_pip(last) => line_of_pip(output),
        last if last.starts_with("error: could not compile ") => {
            first(&|line| line.starts_with("error[") || line.starts_with("error:"))
        }
        last if last.starts_with("test result: FAILED") || is_rerun_advice(last) => {
            first(&|line| line.starts_with("test ") && line.ends_with(" FAILED"))
                .or_else(|| {
                    first(&|line| line.starts_with("thread ") && line.contains(" panicked at "))
                })
                .or_else(|| first(&|line| line.starts_with("---- ")))
                .or_else(|| first(&|line| line.starts_with("test result: FAILED")))
        }
        // a stack trace of JavaScript: the error is above it
        last if is_stack_frame(last) => {
            first(&|line| line.contains("Error: ") || line.contains("Error ["))
                .or_else(|| said().rev().find(|line| !is_stack_frame(line)))
        }
        _ => None,
    };
    red_in_node(output).or(found).or(Some(last))
}

/// What Node's test runner writes before it repeats the tests that failed.
const FAILING_TESTS: &str = "✖ failing tests:";

/// Returns the first test that Node's test runner repeats as failed, without the time that it took.
fn red_in_node(output: &str) -> Option<&str> {
    let (_, repeated) = output.rsplit_once(FAILING_TESTS)?;
    let red = lines(repeated).find(|line| line.starts_with("✖ "))?;
    Some(red.rsplit_once(" (").map_or(red, |(name, _)| name))
}

/// Recognises the last lines of a test run in TAP, as Node's test runner writes them.
fn is_tap_total(line: &str) -> bool {
    ["1..", "# duration_ms ", "# todo ", "# fail "]
        .iter()
        .any(|begin| line.starts_with(begin))
}

/// Recognises a failed test in TAP; one that is marked as to do fails nothing.
fn is_red_in_tap(line: &str) -> bool {
    line.starts_with("not ok ") && !line.contains("# TODO")
}

/// What pip prints for each try when it cannot reach its index; the reason follows, in a line that is too long to
/// quote.
const NO_CONNECTION: &str = "Failed to establish a new connection: ";

/// Recognises the last line of a pip that could not install something, or whose subprocess could not.
fn is_of_pip(line: &str) -> bool {
    line.starts_with("ERROR: No matching distribution found") || line.starts_with("× ")
}

/// Returns what says best why pip failed: that it has no network, what it did not find, or the last words of its
/// subprocess.
fn line_of_pip(output: &str) -> Option<&str> {
    let without_network = lines(output).find_map(|line| {
        let begin = line.find(NO_CONNECTION)?;
        let reason = line.get(begin..)?;
        reason.split('\'').next()
    });
    let not_found =
        || lines(output).find(|line| line.starts_with("ERROR: Could not find a version"));
    without_network.or_else(not_found).or_else(|| {
        // what a subprocess printed is between its box and this line
        let (printed, _) = output.split_once(END_OF_OUTPUT)?;
        let mut said = lines(printed).rev();
        said.find(|line| !is_trailer(line) && !is_advice(line))
    })
}

/// Returns whether a line gives advice, or adds to the line before it: it is not why a command failed.
fn is_advice(line: &str) -> bool {
    ["note: ", "hint: ", "help: "]
        .iter()
        .any(|word| line.starts_with(word))
}

fn is_stack_frame(line: &str) -> bool {
    line.starts_with("at ")
}

/// Returns the lines of a red command's output that a person sees, at most about `lines_max`: its first ones, where
/// tools print their errors, its last ones, and the one with the reason. Blank lines and trailers are omitted; `…`
/// replaces what is omitted in between.
pub fn telling_lines(output: &str, lines_max: usize) -> Vec<&str> {
    let said = |is_kept: fn(&str) -> bool| -> Vec<&str> {
        let lines = output.lines().map(str::trim_end);
        lines
            .filter(|line| !line.trim().is_empty() && is_kept(line.trim()))
            .collect()
    };
    let mut lines = said(|line| !is_trailer(line));
    if lines.is_empty() {
        lines = said(|_| true);
    }
    if lines.len() <= lines_max {
        return lines;
    }
    let tail = lines.len() - lines_max.saturating_sub(HEAD_LINES);
    let head = HEAD_LINES.min(lines_max);
    // The line with the reason is shown wherever it is.
    let why = telling_line(output);
    let is_it = |line: &&str| why.is_some_and(|why| line.trim().starts_with(why));
    let left_out = lines.iter().take(tail).skip(head);
    let telling = left_out.copied().find(is_it);
    let is_shown = |line: &&str| {
        lines
            .iter()
            .take(head)
            .chain(lines.iter().skip(tail))
            .any(|shown| shown == line)
    };
    let telling = telling.filter(|line| !is_shown(line));
    let begin = lines.iter().take(head).copied().chain(["…"]);
    let middle = telling.into_iter().chain(telling.map(|_| "…"));
    begin
        .chain(middle)
        .chain(lines.iter().skip(tail).copied())
        .collect()
}

/// Beginning of a line that Symphony adds to an output.
const REMARK: &str = "[Symphony: ";

fn lines(output: &str) -> impl DoubleEndedIterator<Item = &str> {
    let lines = output.lines().map(str::trim);
    // A line of dashes explains nothing, and neither do Symphony's own remarks.
    lines.filter(|line| line.contains(char::is_alphanumeric) && !line.starts_with(REMARK))
}

const NPM_ERROR: &str = "npm error ";

/// What pip writes below the output of a subprocess.
const END_OF_OUTPUT: &str = "[end of output]";

/// Beginnings of lines that pip puts around the output of a failed subprocess, whatever that printed.
const OF_PIP: [&str; 8] = [
    "error: subprocess-exited-with-error",
    "error: metadata-generation-failed",
    "│ exit code: ",
    "╰─> See above for ",
    "╰─> [",
    END_OF_OUTPUT,
    "note: This error originates from a subprocess",
    "note: This is an issue with the package mentioned above",
];

/// Returns whether a line follows every failure of its tool and says nothing about this one.
fn is_trailer(line: &str) -> bool {
    let of_npm = line.strip_prefix("npm ").is_some_and(|text| {
        text.starts_with("notice")
            || text == "error"
            || [
                "A complete log of this run can be found in",
                "Run \"npm help",
                "Usage:",
                "Options:",
                "aliases:",
                "[-",
                "npm ",
            ]
            .iter()
            .any(|trailer| {
                text.strip_prefix("error ")
                    .is_some_and(|text| text.starts_with(trailer))
            })
    });
    of_npm || line.starts_with("[notice] ") || OF_PIP.iter().any(|begin| line.starts_with(begin))
}

/// Recognises pytest's last line, such as `=== 4 failed, 613 passed in 79.91s (0:01:19) ===`.
fn is_pytest_total(line: &str) -> bool {
    let text = line.trim_matches('=').trim();
    (text.contains(" failed") || text.contains(" error")) && text.contains(" in ") && {
        let first = text.split(' ').next().unwrap_or_default();
        !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// Recognises what cargo ends with after red tests.
fn is_rerun_advice(line: &str) -> bool {
    line.starts_with("error: test failed, to rerun pass") || line.ends_with(" target failed:")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NPM: &str = "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when in sync.\nnpm error\n\
        npm error Missing: jest@29 from lock file\nnpm error Clean install a project\nnpm error\nnpm error Usage:\nnpm error npm ci\nnpm error\n\
        npm error Options:\nnpm error [--install-strategy <hoisted>]\nnpm error\nnpm error aliases: clean-install\nnpm error\n\
        npm error Run \"npm help ci\" for more info\nnpm error A complete log of this run can be found in: /home/a/debug-0.log\n";

    const PIP: &str = "  error: subprocess-exited-with-error\n  \n  × pip subprocess to install build dependencies did not run successfully.\n  │ exit code: 1\n  \
        ╰─> [3 lines of output]\n      WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<Connection at 0x7f>: Failed to establish a new \
        connection: [Errno -3] Temporary failure in name resolution')': /simple/setuptools/\n      ERROR: Could not find a version that satisfies the requirement \
        setuptools>=61 (from versions: none)\n      ERROR: No matching distribution found for setuptools>=61\n      [end of output]\n  \n  \
        note: This error originates from a subprocess, and is likely not a problem with pip.\nerror: subprocess-exited-with-error\n\n\
        × pip subprocess to install build dependencies did not run successfully.\n│ exit code: 1\n╰─> See above for output.\n\n\
        note: This error originates from a subprocess, and is likely not a problem with pip.\n";

    #[test]
    fn advice_and_boxes_are_no_reason() {
        let without = |word: &str| {
            let kept = PIP.lines().filter(|line| !line.contains(word));
            kept.collect::<Vec<_>>().join("\n")
        };
        let found = without("Retrying");
        let compiler = found
            .replace("ERROR: Could not find a version", "gcc")
            .replace(
                "ERROR: No matching distribution found for setuptools>=61",
                "error: command 'gcc' failed",
            );
        for (output, expected) in [
            (
                PIP,
                "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
            ),
            (
                &found,
                "ERROR: Could not find a version that satisfies the requirement setuptools>=61 (from versions: none)",
            ),
            (&compiler, "error: command 'gcc' failed"),
            (
                "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\n\
                 npm error network request to https://registry failed\nnpm error A complete log of this run can be found in: /x/0.log\n",
                "npm error network request to https://registry failed",
            ),
            (
                "error: failed to get `x`\n\nCaused by:\n  Could not resolve host: index.crates.io\nnote: run with `-v`\nhint: try offline\n",
                "Could not resolve host: index.crates.io",
            ),
            (
                "  × Failed to fetch `x`\n  ╰─▶ operation timed out\nhint: UV_HTTP_TIMEOUT\n",
                "╰─▶ operation timed out",
            ),
            ("note: only this\n", "note: only this"),
        ] {
            assert_eq!(telling_line(output), Some(expected));
        }
        let excerpt = telling_lines(PIP, 8);
        assert_eq!(excerpt.len(), 5, "{excerpt:#?}");
        assert!(excerpt.iter().any(|line| line.contains("name resolution")));
    }

    #[test]
    fn the_line_that_names_the_failure_is_found() {
        let cargo = "running 2 tests\ntest a ... ok\ntest b::c ... FAILED\n\nfailures:\n\n---- b::c stdout ----\n\nthread 'b::c' panicked at src/lib.rs:3:5:\n\
            left\n\nfailures:\n    b::c\n\ntest result: FAILED. 1 passed; 1 failed\n\nerror: test failed, to rerun pass `--lib`\n";
        let compile = "   Compiling x\nerror[E0425]: cannot find value `y` in this scope\n --> src/lib.rs:1:1\n\nFor more information about this error, try.\n\
            error: could not compile `x` (lib) due to 1 previous error\n";
        let pytest = "FAILED tests/a.py::test_b - assert 1 == 2\n=== 4 failed, 613 passed in 79.91s (0:01:19) ===\n";
        for (output, expected) in [
            (
                NPM,
                "npm error `npm ci` can only install packages when in sync.",
            ),
            (cargo, "test b::c ... FAILED"),
            (compile, "error[E0425]: cannot find value `y` in this scope"),
            (pytest, "FAILED tests/a.py::test_b - assert 1 == 2"),
            (
                "  1) sum\n       adds:\n     AssertionError [ERR_ASSERTION]: 3 == 4\n      + expected - actual\n\n      at Context.<anonymous> (test/a.js:3:5)\n      \
                 at process.processImmediate (node:internal/timers:483:21)\n",
                "AssertionError [ERR_ASSERTION]: 3 == 4",
            ),
            (
                "TAP version 13\nok 1 - greets\n    not ok 1 - later # TODO\n    not ok 2 - is polite\n      ---\n      error: no\nnot ok 2 - talks\n\
                 1..2\n# tests 2\n# fail 1\n# todo 0\n# duration_ms 708.33151\n",
                "not ok 2 - is polite",
            ),
            (
                "✔ greets (1.2ms)\n✖ talks (9ms)\nℹ fail 1\nℹ duration_ms 653.5\n\n✖ failing tests:\n\ntest at test/a.js:3:1\n\
                 ✖ is polite (4.3172ms)\n  AssertionError [ERR_ASSERTION]: 1 == 2\n      at Test.run (node:internal/test:1:2) {\n    operator: '=='\n  }\n",
                "✖ is polite",
            ),
            ("one\ntwo\n\n", "two"),
            ("[Symphony: what ran before …: a]\none\n", "one"),
        ] {
            assert_eq!(telling_line(output), Some(expected));
        }
        assert_eq!(telling_line(" \n[Symphony: what ran before …: a]\n"), None);
    }

    #[test]
    fn an_excerpt_has_head_and_tail_and_no_help() {
        assert_eq!(
            telling_lines(NPM, 8),
            [
                "npm error code EUSAGE",
                "npm error `npm ci` can only install packages when in sync.",
                "npm error Missing: jest@29 from lock file",
                "npm error Clean install a project",
            ]
        );
        let many: Vec<String> = (1..=20).map(|n| format!("line {n}\n\n")).collect();
        let many = many.concat();
        assert_eq!(
            telling_lines(&many, 5),
            ["line 1", "line 2", "line 3", "…", "line 19", "line 20"]
        );
        assert_eq!(telling_lines("npm notice\n", 5), ["npm notice"]);
        // the failed test is named although it is far from both ends
        let tap = many.replace("line 9", "not ok 3 - is polite") + "# duration_ms 4\n";
        assert_eq!(
            telling_lines(&tap, 5),
            [
                "line 1",
                "line 2",
                "line 3",
                "…",
                "not ok 3 - is polite",
                "…",
                "line 20",
                "# duration_ms 4"
            ]
        );
    }
}
