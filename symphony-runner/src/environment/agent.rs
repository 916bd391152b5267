//! The environment of an agent (spec: lifecycle, "Environment of the agent").
//!
//! Pure: it takes the inherited variables as a value and returns the whole environment of the agent. Only listed
//! variables are inherited, so a secret in the user's shell does not reach an agent by accident; a project names what
//! else it needs in its `env`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use symphony_core::id::RunId;

use crate::provider::agent_clis;

/// The variable that marks every process of a run: a sweep after a crash finds strays by it.
pub const RUN_MARKER: &str = "SYMPHONY_RUN_ID";

/// Git configuration in variables: no `gc --auto`, no `maintenance run --auto`.
const NO_HOUSEKEEPING: [(&str, &str); 5] = [
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "gc.auto"),
    ("GIT_CONFIG_VALUE_0", "0"),
    ("GIT_CONFIG_KEY_1", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// The search path if the inherited `PATH` is missing or holds nothing usable.
const PATH_FALLBACK: &str = "/usr/bin:/bin";

/// Where CLIs are commonly installed below the home folder.
const PATH_ADDED_IN_HOME: &str = ".local/bin";
const PATH_ADDED: [&str; 2] = ["/opt/homebrew/bin", "/usr/local/bin"];

/// Variables that pass by name: who and where the user is, proxies, certificates.
const PASSED: [&str; 32] = [
    "ALL_PROXY",
    "COLORTERM",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "all_proxy",
    "ftp_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Variables that say where toolchains are, so that gates find them outside of the home folder. They hold paths and
/// versions, no secrets.
const TOOLCHAINS: [&str; 22] = [
    "CARGO_HOME",
    "COREPACK_HOME",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "M2_HOME",
    "MISE_DATA_DIR",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "VOLTA_HOME",
];

/// Prefix of the locale categories, which pass.
const LOCALE_PREFIX: &str = "LC_";

/// What marks any agent's session around Symphony.
const SESSION_MARKERS: [&str; 2] = ["AI_AGENT", RUN_MARKER];

/// Builds the whole environment of an agent.
///
/// Later ones win: allowed inherited variables, Symphony's defaults, the project's `env`, the provider's settings, the
/// run's marker. `PATH` loses entries that are empty or relative (they would run programs of the branch) and gets the
/// common folders appended, whoever set it. Names that no environment can hold (empty, with `=` or NUL) and values with
/// NUL are omitted.
pub fn agent_environment(
    inherited: &BTreeMap<OsString, OsString>,
    project_env: &BTreeMap<String, String>,
    provider_env: &BTreeMap<String, String>,
    run: &RunId,
) -> BTreeMap<OsString, OsString> {
    let clouds: Vec<&str> = clouds()
        .filter(|(switch, _)| is_switched_on(inherited, project_env, switch))
        .flat_map(|(_, prefixes)| prefixes.iter().copied())
        .collect();
    let mut environment: BTreeMap<OsString, OsString> = inherited
        .iter()
        .filter(|(name, _)| {
            name.to_str()
                .is_some_and(|name| is_passed(name, &clouds) && !is_session_marker(name))
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in agent_clis().flat_map(|cli| cli.variables.defaults) {
        environment.insert(name.into(), value.into());
    }
    for (name, value) in project_env.iter().chain(provider_env) {
        environment.insert(name.into(), value.into());
    }
    environment.insert(RUN_MARKER.into(), run.as_str().into());
    let path = search_path(
        environment.get(OsStr::new("PATH")),
        environment.get(OsStr::new("HOME")),
    );
    environment.insert("PATH".into(), path);
    environment.retain(|name, value| can_be_set(name, value));
    environment
}

/// Stops an agent's git from automatic maintenance of the user's repository: it would go on in the background after the
/// agent's end, be killed half-way, and leave its lock file. A project that sets git configuration this way itself is
/// left alone.
pub fn leave_housekeeping_to_the_user(environment: &mut BTreeMap<OsString, OsString>) {
    if environment.contains_key(OsStr::new("GIT_CONFIG_COUNT")) {
        return;
    }
    for (name, value) in NO_HOUSEKEEPING {
        environment.insert(name.into(), value.into());
    }
}

/// Returns the `PATH` of a project's agents, before the provider's own settings: where programs are searched for.
pub fn agent_search_path(
    inherited: &BTreeMap<OsString, OsString>,
    project_env: &BTreeMap<String, String>,
) -> OsString {
    let set = |name: &str| {
        let own = project_env.get(name).map(OsString::from);
        own.or_else(|| inherited.get(OsStr::new(name)).cloned())
    };
    search_path(set("PATH").as_ref(), set("HOME").as_ref())
}

/// Returns whether a variable marks an agent session that surrounds Symphony: with it a CLI would take itself for a part
/// of that session.
pub fn is_session_marker(name: &str) -> bool {
    SESSION_MARKERS.contains(&name)
        || agent_clis().any(|cli| (cli.variables.is_session_marker)(name))
}

/// Returns whether a variable passes, and holds no secret by its name: paths, versions and settings.
pub(super) fn is_plain(name: &str) -> bool {
    PASSED.contains(&name)
        || TOOLCHAINS.contains(&name)
        || name.starts_with(LOCALE_PREFIX)
        || agent_clis().any(|cli| cli.variables.settings.contains(&name))
}

/// Returns whether a variable passes; `clouds` are the prefixes that pass for the clouds whose API is used.
pub(super) fn is_passed(name: &str, clouds: &[&str]) -> bool {
    let mut prefixes = agent_clis()
        .flat_map(|cli| cli.variables.prefixes)
        .chain(clouds);
    is_plain(name) || prefixes.any(|prefix| name.starts_with(prefix))
}

/// Returns what also passes if a CLI uses a cloud's API: the switch, then prefixes of names.
pub(super) fn clouds() -> impl Iterator<Item = &'static (&'static str, &'static [&'static str])> {
    agent_clis().flat_map(|cli| cli.variables.clouds)
}

fn is_switched_on(
    inherited: &BTreeMap<OsString, OsString>,
    project_env: &BTreeMap<String, String>,
    switch: &str,
) -> bool {
    let value = project_env
        .get(switch)
        .map(OsStr::new)
        .or_else(|| inherited.get(OsStr::new(switch)).map(OsString::as_os_str));
    value.is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

fn search_path(path: Option<&OsString>, home: Option<&OsString>) -> OsString {
    let given = path.map_or(&b""[..], |path| path.as_bytes());
    let mut entries: Vec<&[u8]> = absolute_entries(given);
    if entries.is_empty() {
        entries = absolute_entries(PATH_FALLBACK.as_bytes());
    }
    let home_added = home
        .filter(|home| home.as_bytes().starts_with(b"/") && !home.as_bytes().contains(&b':'))
        .map(|home| {
            let home = home.as_bytes();
            let home = home.strip_suffix(b"/").unwrap_or(home);
            [home, b"/", PATH_ADDED_IN_HOME.as_bytes()].concat()
        });
    let added = home_added
        .as_deref()
        .into_iter()
        .chain(PATH_ADDED.iter().map(|entry| entry.as_bytes()));
    for entry in added {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    OsString::from_vec(entries.join(&b':'))
}

fn absolute_entries(path: &[u8]) -> Vec<&[u8]> {
    path.split(|&byte| byte == b':')
        .filter(|entry| entry.starts_with(b"/"))
        .collect()
}

fn can_be_set(name: &OsStr, value: &OsStr) -> bool {
    !name.is_empty()
        && !name.as_bytes().iter().any(|byte| matches!(byte, 0 | b'='))
        && !value.as_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherited(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect()
    }

    fn named(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn built(
        from: &[(&str, &str)],
        project: &[(&str, &str)],
        provider: &[(&str, &str)],
    ) -> Vec<String> {
        let run = RunId::parse("run-1").unwrap();
        agent_environment(&inherited(from), &named(project), &named(provider), &run)
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    const FIXED: [&str; 2] = [
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS=64000",
        "PATH=/usr/bin:/bin:/opt/homebrew/bin:/usr/local/bin",
    ];

    #[test]
    fn an_empty_environment_gets_only_what_symphony_sets() {
        assert_eq!(
            built(&[], &[], &[]),
            [FIXED[0], FIXED[1], "SYMPHONY_RUN_ID=run-1"]
        );
    }

    #[test]
    fn only_the_allow_list_is_inherited() {
        let passed = [
            ("ANTHROPIC_API_KEY", "k"),
            ("CARGO_HOME", "/cargo"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "t"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CODEX_HOME", "/x"),
            ("HOME", "/home/u"),
            ("HTTPS_PROXY", "p"),
            ("IS_SANDBOX", "1"),
            ("LANG", "C"),
            ("LC_ALL", "C.UTF-8"),
            ("NODE_EXTRA_CA_CERTS", "/ca"),
            ("OPENAI_API_KEY", "o"),
            ("SSL_CERT_FILE", "/s"),
            ("TERM", "xterm"),
            ("TMPDIR", "/t"),
            ("no_proxy", "localhost"),
        ];
        let held_back = [
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("DATABASE_URL", "d"),
            ("GITHUB_TOKEN", "g"),
            ("LD_PRELOAD", "/evil.so"),
            ("SSH_AUTH_SOCK", "/sock"),
            ("SYMPHONY_DB", "/db"),
        ];
        let result = built(&[&passed[..], &held_back[..]].concat(), &[], &[]);
        for (name, value) in passed {
            assert!(result.contains(&format!("{name}={value}")), "{name}");
        }
        assert_eq!(result.len(), passed.len() + 3, "{result:#?}");
    }

    #[test]
    fn the_marks_of_a_surrounding_session_are_removed() {
        let markers = [
            ("AI_AGENT", "x"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "t"),
            ("CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "7"),
            ("CLAUDE_CODE_REMOTE_SESSION_ID", "r"),
            ("CLAUDE_CODE_SESSION_ID", "s"),
            ("CODEX_SANDBOX", "seatbelt"),
            ("SYMPHONY_RUN_ID", "outer"),
        ];
        assert_eq!(
            built(&markers, &[], &[]),
            [FIXED[0], FIXED[1], "SYMPHONY_RUN_ID=run-1"]
        );
    }

    #[test]
    fn later_sources_win_and_nobody_takes_the_marker() {
        let from = [
            ("LANG", "inherited"),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "1"),
        ];
        let project = [
            ("LANG", "project"),
            ("TERM", "project"),
            ("SYMPHONY_RUN_ID", "forged"),
        ];
        let provider = [
            ("TERM", "provider"),
            ("CLAUDECODE", "set by the provider itself"),
        ];
        assert_eq!(
            built(&from, &project, &provider),
            [
                "CLAUDECODE=set by the provider itself",
                FIXED[0],
                "LANG=project",
                FIXED[1],
                "SYMPHONY_RUN_ID=run-1",
                "TERM=provider",
            ]
        );
        let project = [("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000")];
        assert!(
            built(&[], &project, &[]).contains(&"CLAUDE_CODE_MAX_OUTPUT_TOKENS=32000".to_owned())
        );
    }

    #[test]
    fn a_cloud_passes_its_credentials_only_when_it_is_switched_on() {
        let from = [("AWS_REGION", "eu"), ("GOOGLE_CLOUD_PROJECT", "p")];
        let with = |switch| built(&[&from[..], &[switch]].concat(), &[], &[]);
        let has = |result: &[String], name: &str| result.iter().any(|pair| pair.starts_with(name));
        let bedrock = with(("CLAUDE_CODE_USE_BEDROCK", "1"));
        assert!(has(&bedrock, "AWS_REGION=") && !has(&bedrock, "GOOGLE_"));
        let vertex = with(("CLAUDE_CODE_USE_VERTEX", "true"));
        assert!(!has(&vertex, "AWS_") && has(&vertex, "GOOGLE_CLOUD_PROJECT="));
        let off = with(("CLAUDE_CODE_USE_BEDROCK", "0"));
        assert!(!has(&off, "AWS_"));
    }

    #[test]
    fn the_search_path_is_absolute_and_has_the_common_places_once() {
        let table = [
            (None, None, "/usr/bin:/bin:/opt/homebrew/bin:/usr/local/bin"),
            (
                Some(""),
                Some("/h"),
                "/usr/bin:/bin:/h/.local/bin:/opt/homebrew/bin:/usr/local/bin",
            ),
            (
                Some("/usr/local/bin:/bin"),
                Some("/h/"),
                "/usr/local/bin:/bin:/h/.local/bin:/opt/homebrew/bin",
            ),
            (
                Some(".::node_modules/.bin:/a"),
                Some("/h"),
                "/a:/h/.local/bin:/opt/homebrew/bin:/usr/local/bin",
            ),
            (
                Some("/a"),
                Some("relative"),
                "/a:/opt/homebrew/bin:/usr/local/bin",
            ),
            (
                Some("/a"),
                Some("/with:colon"),
                "/a:/opt/homebrew/bin:/usr/local/bin",
            ),
        ];
        for (path, home, expected) in table {
            let path = path.map(OsString::from);
            let home = home.map(OsString::from);
            assert_eq!(
                search_path(path.as_ref(), home.as_ref()),
                expected,
                "{path:?}"
            );
        }
    }

    #[test]
    fn a_project_path_gets_the_same_treatment() {
        assert!(
            built(&[("PATH", "/inherited")], &[("PATH", "/project:.")], &[])
                .contains(&"PATH=/project:/opt/homebrew/bin:/usr/local/bin".to_owned())
        );
    }

    #[test]
    fn what_no_environment_can_hold_is_left_out() {
        let project = [("", "x"), ("A=B", "x"), ("N\0", "x"), ("V", "a\0b")];
        assert_eq!(built(&[], &project, &[]), built(&[], &[], &[]));
    }

    #[test]
    fn bytes_that_are_no_text_survive_in_values() {
        let raw = OsString::from_vec(b"/caf\xe9".to_vec());
        let from = BTreeMap::from([(OsString::from("TMPDIR"), raw.clone())]);
        let run = RunId::parse("r").unwrap();
        let result = agent_environment(&from, &BTreeMap::new(), &BTreeMap::new(), &run);
        assert_eq!(result.get(OsStr::new("TMPDIR")), Some(&raw));
    }
}
