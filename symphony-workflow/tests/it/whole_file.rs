//! A whole file, in the shape of those that openai/symphony's users have: settings, template and decisions together.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use symphony_workflow::config::{Config, Place, Secret};
use symphony_workflow::eligible::{Rules, State, plan_dispatch};
use symphony_workflow::template::{Template, continuation_prompt};
use symphony_workflow::workspace::{WorkspaceKey, check_launch};
use symphony_workflow::{Source, Ticket};

const FILE: &str = r#"---
tracker:
  kind: linear
  project_slug: "demo-0123456789ab"
  active_states:
    - Todo
    - In Progress
    - Merging
  terminal_states: Closed, Cancelled, Done
polling:
  interval_ms: 5000
workspace:
  root: ~/work/tickets
hooks:
  timeout_ms: 900000
  after_create: |
    set -eu
    name="$(basename "$PWD")"
    git clone --depth 1 "file:///srv/demo.git" .
    git switch -c "tickets/${name}"
  before_remove: |
    git push --quiet origin HEAD || true
agent:
  max_concurrent_agents: 2
  max_turns: 20
codex:
  command: codex --config 'model="some-model"' app-server
  model: some-model
  attach_worktree_owner: true
  approval_policy: never
  thread_sandbox: workspace-write
  turn_sandbox_policy:
    type: workspaceWrite
    networkAccess: true
  read_timeout_ms: 60000
server:
  port: 4000
---

Your ticket is `{{ issue.identifier }}`: {{ issue.title }}

{% if attempt %}
This is attempt {{ attempt }}. Continue from what is in the workspace.
{% endif %}
State: {{ issue.state }}, labels: {{ issue.labels | join: ", " }}
{%- if issue.url %}, see {{ issue.url }}{% endif %}

{% if issue.description %}
{{ issue.description }}
{% else %}
There is no description.
{% endif %}

| state | what to do |
|---|---|
| `Todo` | move it to `In Progress` first |

---

Use `docker inspect --format '{% raw %}{{.State}}{% endraw %}'` where you need it.
"#;

fn variable(name: &str) -> Option<OsString> {
    (name == "LINEAR_API_KEY").then(|| "lin_test".into())
}

fn place() -> Place<'static> {
    Place {
        variable: &variable,
        home: Some(Path::new("/home/u")),
        temporary: Path::new("/tmp"),
        current: Path::new("/projects/demo"),
    }
}

fn ticket(identifier: &str) -> Ticket {
    Ticket {
        id: format!("id-{identifier}"),
        identifier: identifier.to_owned(),
        title: "Fix the parser".to_owned(),
        state: "In Progress".to_owned(),
        url: Some("https://linear.test/x".to_owned()),
        ..Ticket::default()
    }
    .with_labels(&["Backend", "Bug"])
}

#[test]
fn an_unchanged_file_is_read_rendered_and_obeyed() {
    for text in [
        FILE.to_owned(),
        format!("\u{feff}{}", FILE.replace('\n', "\r\n")),
    ] {
        let source = Source::parse(&text).unwrap();
        let reading = Config::read(&source, &place());
        assert_eq!(reading.problems, []);
        let notes: Vec<String> = reading.notes.iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            ["WORKFLOW.md:29: codex.attach_worktree_owner: unknown field, ignored"]
        );
        let config = reading.config;
        assert_eq!(config.preflight(), []);
        assert_eq!(config.tracker.api_key, Secret::new("lin_test"));
        assert_eq!(config.codex.model.as_deref(), Some("some-model"));
        assert_eq!(config.polling.interval, Duration::from_secs(5));
        assert_eq!(config.server.port, Some(4000));

        let prompt = Template::parse(&source)
            .unwrap()
            .render(&ticket("MT-1"), Some(2))
            .unwrap();
        let expected = "Your ticket is `MT-1`: Fix the parser\n\n\nThis is attempt 2. Continue from what is in the workspace.\n\n\
                        State: In Progress, labels: backend, bug, see https://linear.test/x\n\n\nThere is no description.\n\n\n\
                        | state | what to do |\n|---|---|\n| `Todo` | move it to `In Progress` first |\n\n---\n\n\
                        Use `docker inspect --format '{{.State}}'` where you need it.";
        assert_eq!(prompt, expected);
        assert!(
            !continuation_prompt(&ticket("MT-1"), 2, config.agent.turns_max)
                .contains("Fix the parser")
        );

        let rules = Rules::of(&config);
        let plan = plan_dispatch(
            &[ticket("MT-3"), ticket("MT-2"), ticket("MT-1")],
            &State::default(),
            &rules,
        );
        let started: Vec<&str> = plan
            .start
            .iter()
            .map(|ticket| ticket.identifier.as_str())
            .collect();
        assert_eq!(started, ["MT-1", "MT-2"]);
        let root = &config.workspace.root;
        let folder = WorkspaceKey::of("MT-1").unwrap().folder(root);
        assert_eq!(folder, Path::new("/home/u/work/tickets/MT-1"));
        assert_eq!(check_launch(&folder, &folder, root), Ok(()));
    }
}
