//! `symphony mcp`: bytes to a run's socket, or a service of its own on the database.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use symphony_core::agent::AgentType;
use symphony_core::asker::Asker;
use symphony_core::config::ServerAddress;
use symphony_core::contract::Delivery;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{Issue, IssueStatus};
use symphony_core::tools::{Assignment, Role, role_for};
use symphony_core::user::{Attribution, Source};
use symphony_mcp::{
    BeforeHandIn, Identity, IssueWorkspace, ProjectPhases, ReviewTarget, Reviewed, Service,
    StoreThread, Verdicts, pipe_stdio, serve_stdio,
};
use symphony_runner::installation::Installation;
use symphony_runner::person::verification;
use symphony_runner::prompts::library::PromptLibrary;
use symphony_runner::repository::{issue_workspace, open_repository};
use symphony_store::{Actor, Person, Project, Store};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::permission::identify_asker;
use crate::value::issue_id;

/// What `mcp` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --socket it serves your own MCP client: writes are recorded as yours. In a repository that is set up, \
                  you need neither --db nor --project-id.\n\nExample, for a client's configuration:\n  \
                  symphony mcp --issue-id SYM-1 --db /home/me/project/.symphony/symphony.db",
    group = ArgGroup::new("direct").multiple(true).conflicts_with("socket")
)]
pub(crate) struct McpArgs {
    /// Connect standard input and output to the socket of a run
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The issue that the tools are about
    #[arg(long = "issue-id", value_name = "ISSUE", group = "direct", value_parser = issue_id)]
    issue_id: Option<IssueId>,
    /// The project, if there is no issue
    #[arg(
        long = "project-id",
        value_name = "PROJECT",
        group = "direct",
        conflicts_with = "issue_id"
    )]
    project_id: Option<ProjectId>,
    /// The database
    #[arg(long, value_name = "PATH|URL", group = "direct")]
    db: Option<OsString>,
    /// Offer only the tools of this profile
    #[arg(long = "agent-type", value_name = "PROFILE", group = "direct")]
    agent_type: Option<AgentType>,
}

impl McpArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        if let Some(socket) = &self.socket {
            return pipe_stdio(&app.surroundings.current.join(socket)).context("reach the run");
        }
        // both leave the database for what follows
        let asker = identify_asker(&app.surroundings).context("serve MCP")?;
        let secrets = app.secrets()?;
        let (store, here) = self.open(app).context("serve MCP")?;
        let identity = self.identity(app, &store, here, &asker);
        let identity = identity.context("serve MCP")?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("start the service")?;
        let service = Service::new(identity, StoreThread::new(store));
        let service = service.with_redactor(secrets.into_redactor());
        let served = runtime.block_on(serve_stdio(service));
        // a blocked read of standard input must not keep the process
        runtime.shutdown_background();
        served.context("serve MCP")
    }

    /// Opens the database: the named one, or the one of the repository here.
    fn open(&self, app: &App) -> anyhow::Result<(Store, Option<Installation>)> {
        let Some(path) = &self.db else {
            let (installation, store) = app.surroundings.existing()?;
            return Ok((store, Some(installation)));
        };
        app.surroundings.close();
        if let Some(address) = path.to_str().filter(|text| ServerAddress::is_meant(text)) {
            let address = ServerAddress::parse(address).map_err(|error| {
                Stop::new(
                    Exit::Usage,
                    format!("this is not the address of a database: it {error}"),
                )
            })?;
            return Ok((Store::open_on(&address)?, None));
        }
        let path = app.surroundings.current.join(path);
        if !path.exists() {
            let message = format!("there is no database {}", path.display());
            return Err(Stop::new(Exit::NotFound, message)
                .hint("`symphony init` makes one")
                .into());
        }
        Ok((Store::open_existing(&path)?, None))
    }

    /// Returns who the session is: a person, with the tools of an agent type when one is named.
    fn identity(
        &self,
        app: &App,
        store: &Store,
        here: Option<Installation>,
        asker: &Asker,
    ) -> anyhow::Result<Identity> {
        let issue = self
            .issue_id
            .as_ref()
            .map(|id| store.issue(id))
            .transpose()?;
        let root = match &here {
            Some(installation) => Some(installation.root.clone()),
            None => app.surroundings.root().ok(),
        };
        let project = self.project(store, issue.as_ref(), root.as_deref())?;
        let review = match &issue {
            Some(issue) => open_review(store, &issue.id)?,
            None => None,
        };
        let role = self.role(issue.as_ref(), review.as_ref());
        let place = match here {
            Some(installation) if installation.root == project.root => Ok(installation),
            _ => app.surroundings.installation_at(project.root.clone()),
        };
        let profile = match (&self.agent_type, &place) {
            (Some(agent), Ok(installation)) => {
                library(installation, &project).and_then(|library| library.profile(agent).cloned())
            }
            _ => None,
        };
        let tools = profile.map_or_else(|| role.allowed(), |profile| profile.allowed(role));
        let workspace = match (&issue, &place) {
            (Some(issue), Ok(installation)) => workspace(installation, &project, &issue.id),
            _ => None,
        };
        let id = project.id.clone();
        let phases = place.map_or_else(
            |_| ProjectPhases::default(),
            |installation| {
                ProjectPhases::read_when_asked(move || {
                    library(&installation, &project).map(|library| library.pipeline)
                })
            },
        );
        let verdicts = match asker {
            Asker::Agent(_) => Verdicts::Refused,
            Asker::Person | Asker::Unverified(_) => Verdicts::ByRole,
        };
        let issue = issue.map(|issue| issue.id);
        Ok(Identity {
            actor: Actor::Human(Person {
                verification: verification(),
                attribution: Attribution::of(Source::Agent),
            }),
            role,
            tools,
            project: id,
            issue,
            review,
            directory: None,
            workspace,
            phases,
            verdicts,
            before_hand_in: BeforeHandIn::default(),
        })
    }

    fn role(&self, issue: Option<&Issue>, review: Option<&ReviewTarget>) -> Role {
        let Some(agent) = &self.agent_type else {
            return Role::Human;
        };
        let assignment = match issue {
            None => Assignment::Background,
            Some(issue) => match review {
                Some(review) if issue.state.status() == IssueStatus::Review => match review {
                    ReviewTarget::PullRequest {
                        subject: Reviewed::Proposal,
                        ..
                    } => Assignment::DoneReview,
                    ReviewTarget::PullRequest { .. } => Assignment::PrReview,
                    ReviewTarget::Delivery { .. } => Assignment::PhaseReview,
                },
                _ => Assignment::Issue(issue.phase()),
            },
        };
        role_for(agent, &assignment)
    }

    /// Returns the project: the issue's, the named one, the one at the repository's root, or the only one of the database.
    fn project(
        &self,
        store: &Store,
        issue: Option<&Issue>,
        root: Option<&Path>,
    ) -> anyhow::Result<Project> {
        if let Some(id) = issue
            .map(|issue| &issue.project)
            .or(self.project_id.as_ref())
        {
            return Ok(store.project(id)?);
        }
        if let Some(root) = root
            && let Some(project) = store.project_at(root)?
        {
            return Ok(project);
        }
        let mut projects = store.projects()?;
        match (projects.pop(), projects.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => Err(Stop::new(
                Exit::Usage,
                "cannot tell which project you mean: the database has several, or none",
            )
            .hint("name an issue with --issue-id, or a project with --project-id")
            .into()),
        }
    }
}

/// Returns what a person's verdict on the issue would be about: its open pull request, or the delivery that awaits a judge.
fn open_review(store: &Store, issue: &IssueId) -> anyhow::Result<Option<ReviewTarget>> {
    if let Some(pr) = store.open_pr(issue)? {
        return Ok(Some(ReviewTarget::PullRequest {
            subject: Reviewed::of(&pr),
            pr: pr.id,
            commit: pr.head_commit,
        }));
    }
    let delivery = store.open_delivery(issue)?.filter(Delivery::awaits_judge);
    Ok(delivery.map(|delivery| ReviewTarget::Delivery {
        delivery: delivery.id,
        commit: delivery.head_commit.unwrap_or_default(),
    }))
}

/// Returns the project's profiles and contracts; with ones that cannot be read no tools are narrowed, and no phase can
/// be claimed.
fn library(installation: &Installation, project: &Project) -> Option<PromptLibrary> {
    let library = installation
        .project_config(project)
        .and_then(|config| installation.library(&config));
    library
        .inspect_err(|error| tracing::warn!(%error, "the project's prompts cannot be read"))
        .ok()
}

/// Returns the worktree with the issue's work, for `create_pr`; none when it has none.
fn workspace(
    installation: &Installation,
    project: &Project,
    issue: &IssueId,
) -> Option<IssueWorkspace> {
    let config = installation.project_config(project).ok()?;
    let folder = |workspace: &IssueWorkspace| -> PathBuf {
        Path::new(&workspace.project_root)
            .join(&workspace.options.workspaces_dir)
            .join(workspace.key.as_str())
    };
    let repository = open_repository(project, &config).ok()?;
    issue_workspace(&repository, &config, issue)
        .ok()
        .filter(|workspace| folder(workspace).is_dir())
}
