//! The lines that let cron or systemd tick or serve: pure, so that each character of a path survives.

use std::ffi::OsString;

use symphony_core::command_line::shell_quoted;

/// Seconds between two ticks of a served page.
const TICK_SECONDS: &str = "30";

/// One tick.
const TICK: &[&str] = &["--quiet", "tick"];

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Symphony's program and its arguments.
    pub(super) command: Vec<String>,
    /// The folders of programs that a tick and its agents need.
    pub(super) path: String,
}

impl Schedule {
    /// What begins each command for an installation.
    pub(super) fn new(program: String, arguments: Vec<OsString>, path: String) -> Self {
        let arguments = arguments
            .into_iter()
            .map(|argument| argument.to_string_lossy().into_owned());
        let mut command = vec![program];
        command.extend(arguments);
        Self { command, path }
    }

    /// Returns the command with what it is to do.
    fn doing<'a>(&'a self, what: &[&'a str]) -> impl Iterator<Item = &'a str> {
        let what = what.to_vec();
        self.command.iter().map(String::as_str).chain(what)
    }

    /// Returns the line of a crontab. Cron takes a bare `%` for the end of the line.
    pub(super) fn crontab(&self) -> String {
        let words: Vec<String> = self.doing(TICK).map(shell_quoted).collect();
        let line = format!("PATH={} {}", shell_quoted(&self.path), words.join(" "));
        format!("* * * * * {}", line.replace('%', "\\%"))
    }

    /// Returns a systemd service of one tick. Its end must not end the supervisors that it started.
    pub(super) fn service(&self) -> String {
        format!(
            "[Unit]\nDescription=Symphony: one tick\n\n[Service]\nType=oneshot\nKillMode=process\n{}",
            self.start(TICK)
        )
    }

    /// Returns a systemd service that serves the page and runs ticks. Its end must not end the supervisors that its ticks started.
    pub(super) fn page_service(&self) -> String {
        format!(
            "[Unit]\nDescription=Symphony: the page, and ticks\n\n[Service]\nKillMode=process\nRestart=on-failure\n{}\n[Install]\n\
             WantedBy=default.target\n",
            self.start(&["serve", "--tick", TICK_SECONDS])
        )
    }

    fn start(&self, what: &[&str]) -> String {
        let words: Vec<String> = self.doing(what).map(unit_quoted).collect();
        let path = unit_quoted(&format!("PATH={}", self.path));
        format!("Environment={path}\nExecStart={}\n", words.join(" "))
    }

    /// Returns the timer of the service.
    pub(super) fn timer() -> String {
        "[Unit]\nDescription=Symphony: a tick each minute\n\n[Timer]\nOnCalendar=*:0/1\nAccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n"
            .to_owned()
    }
}

/// Quotes a word for a unit file: quotes and backslashes escaped, `%` and `$` doubled.
fn unit_quoted(word: &str) -> String {
    let escaped = word
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
        .replace('$', "$$");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_path_survives() {
        let schedule = Schedule::new(
            "/opt/symphony".into(),
            vec!["-C".into(), "/home/me/100% it's \"$x\"".into()],
            "/usr/bin:/bin".into(),
        );
        assert_eq!(
            schedule.crontab(),
            "* * * * * PATH=/usr/bin:/bin /opt/symphony -C '/home/me/100\\% it'\\''s \"$x\"' --quiet tick"
        );
        assert_eq!(
            schedule.service().lines().skip(3).collect::<Vec<_>>(),
            [
                "[Service]",
                "Type=oneshot",
                "KillMode=process",
                "Environment=\"PATH=/usr/bin:/bin\"",
                "ExecStart=\"/opt/symphony\" \"-C\" \"/home/me/100%% it's \\\"$$x\\\"\" \"--quiet\" \"tick\"",
            ]
        );
        let page = schedule.page_service();
        assert!(page.contains("KillMode=process\n"), "{page}");
        assert!(
            page.contains("it's \\\"$$x\\\"\" \"serve\" \"--tick\" \"30\"\n"),
            "{page}"
        );
    }
}
