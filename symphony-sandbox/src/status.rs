//! What bubblewrap reports about a sandbox: JSON documents, one after another, on a descriptor of its own.

use serde::Deserialize;

/// What bubblewrap reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// The process that started in the sandbox, by its number outside; `None` when the sandbox was not made.
    pub child: Option<i32>,
    /// The exit code of the program; `None` when it did not run or was killed together with bubblewrap.
    pub exit_code: Option<i32>,
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "child-pid")]
    child_pid: Option<i32>,
    #[serde(rename = "exit-code")]
    exit_code: Option<i32>,
}

impl Status {
    /// Reads a report. What cannot be read is passed over: an incomplete report says that the sandbox failed.
    pub fn parse(report: &[u8]) -> Self {
        let mut status = Self::default();
        let reports = serde_json::Deserializer::from_slice(report).into_iter::<Report>();
        for report in reports.map_while(Result::ok) {
            status.child = status.child.or(report.child_pid);
            status.exit_code = status.exit_code.or(report.exit_code);
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_how_far_a_sandbox_came() {
        let status = |child, exit_code| Status { child, exit_code };
        for (report, expected) in [
            ("", status(None, None)),
            ("{ \"child-pid\": 7 }\n", status(Some(7), None)),
            (
                "{ \"child-pid\": 7, \"net-namespace\": 4026532 }\n{ \"exit-code\": 3 }\n",
                status(Some(7), Some(3)),
            ),
            ("{ \"child-pid\": 7 }\n{ \"exit-co", status(Some(7), None)),
            ("bwrap: no", status(None, None)),
        ] {
            assert_eq!(Status::parse(report.as_bytes()), expected, "{report}");
        }
    }
}
