//! Whether the agents' CLI is logged in, as far as that can be known without a request that costs money: whether
//! credentials are there. No value and no file is looked into.

use std::path::{Path, PathBuf};

use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_runner::installation::Installation;

use super::check::CheckView;

const CHECK: &str = "login";

/// Where a CLI keeps its credentials.
#[derive(Debug)]
struct Credentials {
    /// What the CLI is called.
    name: &'static str,
    /// Variables any of which logs it in.
    variables: &'static [&'static str],
    /// The variable that names its own folder.
    folder_variable: &'static str,
    /// That folder otherwise, in the home folder.
    folder: &'static str,
    /// The file of its login in that folder.
    file: &'static str,
    /// How a person logs in.
    fix: &'static str,
}

const CLAUDE: Credentials = Credentials {
    name: "Claude Code",
    variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ],
    folder_variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    file: ".credentials.json",
    fix: "start `claude` and type `/login`, or set ANTHROPIC_API_KEY where `symphony` runs",
};

const CODEX: Credentials = Credentials {
    name: "Codex",
    variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
    folder_variable: "CODEX_HOME",
    folder: ".codex",
    file: "auth.json",
    fix: "`codex login`, or set CODEX_API_KEY where `symphony` runs",
};

/// Looks for the credentials of the provider that a project uses; nothing for providers without a login of their own.
pub(super) fn check_login(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Option<CheckView> {
    let credentials = match provider {
        ProviderName::ClaudeCli => CLAUDE,
        ProviderName::CodexCli => CODEX,
        ProviderName::Command | ProviderName::Scripted => return None,
    };
    let own = &config.providers.settings(provider).env;
    let variable = |name: &str| -> Option<String> {
        let configured = own.get(name).or_else(|| config.env.get(name)).cloned();
        let value = configured.or_else(|| {
            let inherited = installation.variable(name)?;
            Some(inherited.to_string_lossy().into_owned())
        });
        value.filter(|value| !value.is_empty())
    };
    let has_file = |path: &Path| path.metadata().is_ok_and(|meta| meta.len() > 0);
    Some(view(&credentials, &variable, &has_file))
}

fn view(
    credentials: &Credentials,
    variable: &dyn Fn(&str) -> Option<String>,
    has_file: &dyn Fn(&Path) -> bool,
) -> CheckView {
    let name = credentials.name;
    let unproven = "the first run shows whether it is accepted";
    let mut variables = credentials.variables.iter();
    if let Some(found) = variables.find(|name| variable(name).is_some()) {
        return CheckView::ok(CHECK, format!("{name}: {found} is set; {unproven}"));
    }
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(credentials.folder));
    let folder = variable(credentials.folder_variable).map(PathBuf::from);
    let file = folder
        .or_else(home)
        .map(|folder| folder.join(credentials.file));
    let place = match file {
        Some(file) if has_file(&file) => {
            let file = file.display();
            return CheckView::ok(CHECK, format!("{name}: {file} exists; {unproven}"));
        }
        Some(file) => format!("{} does not exist", file.display()),
        None => "HOME is not set".to_owned(),
    };
    CheckView::warning(
        CHECK,
        format!(
            "{name} seems not to be logged in: {place}, and {} is set",
            none_of(credentials.variables)
        ),
        credentials.fix,
    )
}

/// Returns the subject of a sentence that says of no name that it is set.
fn none_of(names: &[&str]) -> String {
    match names {
        [one, other] => format!("neither {one} nor {other}"),
        names => format!("none of {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::check::Health;

    #[test]
    fn the_sentences_agree_with_what_was_looked_for() {
        let detail = |credentials: &Credentials, set: bool| {
            let variable = |name: &str| (set && name == "OPENAI_API_KEY").then(|| "x".to_owned());
            view(credentials, &variable, &|_| false).detail
        };
        assert_eq!(
            detail(&CODEX, true),
            "Codex: OPENAI_API_KEY is set; the first run shows whether it is accepted"
        );
        assert_eq!(
            detail(&CODEX, false),
            "Codex seems not to be logged in: HOME is not set, and neither CODEX_API_KEY nor OPENAI_API_KEY is set"
        );
    }

    /// Variables with their values, the file that is there, and what is expected.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, Health, &'a str);

    #[test]
    fn credentials_are_looked_for_and_never_looked_into() {
        let table: &[Case<'_>] = &[
            (
                &[("ANTHROPIC_API_KEY", "secret")],
                "",
                Health::Ok,
                "Claude Code: ANTHROPIC_API_KEY is set;",
            ),
            (
                &[("HOME", "/h")],
                "/h/.claude/.credentials.json",
                Health::Ok,
                "Claude Code: /h/.claude/.credentials.json exists;",
            ),
            (
                &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")],
                "/c/.credentials.json",
                Health::Ok,
                "Claude Code: /c/.credentials.json exists;",
            ),
            (
                &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")],
                "/h/.claude/.credentials.json",
                Health::Warning,
                "Claude Code seems not to be logged in: /c/.credentials.json does not exist, and none of",
            ),
            (
                &[],
                "",
                Health::Warning,
                "Claude Code seems not to be logged in: HOME is not set, and none of",
            ),
        ];
        for (variables, file, status, begins) in table {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let found = view(&CLAUDE, &variable, &|path| path == Path::new(file));
            assert_eq!(found.status, *status, "{found:?}");
            assert!(found.detail.starts_with(begins), "{found:?}");
            assert!(!format!("{found:?}").contains("secret"), "{found:?}");
        }
    }
}
