//! The keys of what is mirrored elsewhere: trackers and the forge.

use super::forge::{ForgeKind, ForgeMethod, MergeWhere, PushWhen};
use super::key::DefaultValue::Unset;
use super::key::Scope::OneProject;
use super::key::{Each, Key, Kind, Leaf, NameRule, TextRule};
use super::row::{LINE, WAIT, leaf, section};
use super::tracker::{IMPORT_STATUSES, TrackerKind};

#[rustfmt::skip]
pub(super) const TRACKER: &[Key] = &[
    leaf("kind", Leaf::Choice(TrackerKind::NAMES), Unset("\"github\""), OneProject, "Which tracker it is."),
    leaf("repository", LINE, Unset("\"acme/web\""), OneProject, "The repository on GitHub, as `owner/name`."),
    leaf("team", LINE, Unset("\"ENG\""), OneProject, "The key of the team on Linear: what its issues' names begin with."),
    leaf("linear_project", LINE, Unset("\"d9b1c2a3e4f5\""), OneProject,
        "Only issues of this project on Linear: the end of the project's address, after the last hyphen."),
    leaf("endpoint", LINE, Unset("\"https://github.example.com/api/v3\""), OneProject,
        "The address of the API, for a server of your own; by default that of github.com or linear.app."),
    leaf("token_env", LINE, Unset("\"GITHUB_TOKEN\""), OneProject,
        "The environment variable with the token; by default `GITHUB_TOKEN` or `LINEAR_API_KEY`."),
    leaf("token_command", Leaf::Command, Unset(r#"["gh", "auth", "token"]"#), OneProject,
        "A command that prints the token, instead of a variable."),
    section("filter", TRACKER_FILTER, OneProject, "Which of its issues Symphony takes in."),
    leaf("import_status", Leaf::Choice(IMPORT_STATUSES), Unset("\"todo\""), OneProject,
        "The status of an issue that is taken in: `todo`, which is the default, or `backlog`."),
    Key { name: "states", kind: Kind::Map(NameRule::Status, Each::Leaf(LINE)), default: Unset(r#"{"in_progress": "In Progress", "review": "In Review"}"#), scope: OneProject,
        doc: "What a status is called there: the name of a state on Linear, of a label on GitHub. Without an entry, only open and closed are mirrored." },
    Key { name: "priorities", kind: Kind::Map(NameRule::Priority, Each::Leaf(LINE)), default: Unset(r#"{"urgent": "P0", "high": "P1"}"#), scope: OneProject,
        doc: "The label on GitHub that means a priority; Linear has priorities of its own." },
    Key { name: "commanders", kind: Kind::Map(NameRule::User, Each::Leaf(LINE)), default: Unset(r#"{"ada": "583231"}"#), scope: OneProject,
        doc: "People who may give commands in comments: a name that you choose, and their user id there, which no rename changes; `symphony tracker check` prints your own." },
    leaf("comments", Leaf::Bool, Unset("false"), OneProject, "Writes milestones there as comments; on by default."),
    leaf("subtasks", Leaf::Bool, Unset("false"), OneProject, "Creates the sub-tasks of mirrored issues there, too; on by default."),
    leaf("poll_ms", WAIT, Unset("60000"), OneProject, "Shortest time between two looks; a minute by default."),
];

#[rustfmt::skip]
const TRACKER_FILTER: &[Key] = &[
    leaf("labels", Leaf::Texts(TextRule::Line), Unset(r#"["symphony"]"#), OneProject,
        "Labels that an issue must have, all of them; by default `symphony`. An empty list takes in every issue, whoever wrote it."),
    leaf("assignees", Leaf::Texts(TextRule::Line), Unset(r#"["octocat"]"#), OneProject,
        "Users, by login or id; an issue must be assigned to one of them."),
    leaf("states", Leaf::Texts(TextRule::Line), Unset(r#"["Todo"]"#), OneProject,
        "States, by name; an issue must be in one of them when Symphony first sees it."),
];

#[rustfmt::skip]
pub(super) const FORGE: &[Key] = &[
    leaf("kind", Leaf::Choice(ForgeKind::NAMES), Unset("\"github\""), OneProject, "Which forge it is."),
    leaf("repository", LINE, Unset("\"acme/web\""), OneProject,
        "The repository, as `owner/name`; by default it is read from the address of the remote."),
    leaf("remote", LINE, Unset("\"origin\""), OneProject,
        "The git remote that branches are pushed to and the base is fetched from; `origin` by default."),
    leaf("endpoint", LINE, Unset("\"https://github.example.com/api/v3\""), OneProject,
        "The address of the API, for a server of your own; by default that of github.com."),
    leaf("token_env", LINE, Unset("\"GITHUB_TOKEN\""), OneProject,
        "The environment variable with the token; `GITHUB_TOKEN` by default."),
    leaf("token_command", Leaf::Command, Unset(r#"["gh", "auth", "token"]"#), OneProject,
        "A command that prints the token, instead of a variable."),
    leaf("push", Leaf::Choice(PushWhen::NAMES), Unset("\"opened\""), OneProject,
        "When a branch is pushed: `opened` (the default) pushes it as soon as its gates are green here, `approved` only once it is approved here, too."),
    leaf("merge", Leaf::Choice(MergeWhere::NAMES), Unset("\"auto\""), OneProject,
        "Where `symphony pr merge` merges: `forge` at the forge; `local` here, then the base is pushed; `auto` (the default) at the forge if the base branch is protected there, otherwise here."),
    leaf("method", Leaf::Choice(ForgeMethod::NAMES), Unset("\"merge\""), OneProject,
        "How the forge merges: `merge`, which is the default, `squash` or `rebase`."),
    Key { name: "reviewers", kind: Kind::Map(NameRule::User, Each::Leaf(LINE)), default: Unset(r#"{"ada": "583231"}"#), scope: OneProject,
        doc: "People whose approvals at the forge count: a name that you choose, and their user id there, which no rename changes; `symphony forge check` prints your own. Every member of the repository can request changes." },
    leaf("checks", Leaf::Texts(TextRule::Line), Unset(r#"["build"]"#), OneProject,
        "Names of checks that must pass, in addition to those that the base branch requires there."),
    leaf("rerun", Leaf::Bool, Unset("false"), OneProject,
        "Runs a failed check a second time before it counts; on by default."),
    leaf("poll_ms", WAIT, Unset("60000"), OneProject, "Shortest time between two looks; a minute by default."),
];
