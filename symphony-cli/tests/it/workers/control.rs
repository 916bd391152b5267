//! A control, which is played through the store where no tick is needed.

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ServerAddress;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::placement::Pool;
use symphony_core::run::{ProtectionLevel, Run, RunTarget};
use symphony_core::tick::{NO_PROVIDER, StartRun};
use symphony_store::{ClaimLimits, ClaimRequest, Context, Store};

use super::host::Host;
use crate::on_postgres::{address, repository};
use crate::support::{Project, until};

/// A control with its repository, which is the hub as well.
pub(super) struct Control {
    pub(super) project: Project,
    pub(super) address: String,
    pub(super) store: Store,
    pub(super) id: ProjectId,
    pool: Pool,
}

impl Control {
    pub(super) fn new(name: &str, scenarios: &Value) -> Self {
        let address = address(name);
        let project = repository(&address).set_up(scenarios, &json!({}));
        let mut store = Store::open_on(&ServerAddress::parse(&address).unwrap()).unwrap();
        let id = store.projects().unwrap().remove(0).id;
        let text = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
        let own: Value = serde_json::from_str(&text).unwrap();
        let layers = json!([{ "sandbox": "off" }, own]);
        store
            .hand_project(&id, &layers, project.root.to_str())
            .unwrap();
        let pool = Pool::parse("linux").unwrap();
        Self {
            project,
            address,
            store,
            id,
            pool,
        }
    }

    /// Claims a run for the pool, as a tick does.
    pub(super) fn claim(&mut self, target: RunTarget, agent: AgentType) -> RunId {
        let run = RunId::parse(symphony_store::new_installation_id().to_string()).unwrap();
        let provider = match agent {
            AgentType::Gates => NO_PROVIDER,
            _ => "scripted",
        };
        let request = ClaimRequest {
            run: run.clone(),
            start: StartRun {
                project: self.id.clone(),
                target,
                agent,
                phase: None,
                attempt: 1,
                provider: provider.to_owned(),
                probes: Vec::new(),
            },
            protection: ProtectionLevel::None,
        };
        let context = Context::system(Timestamp::now());
        let pools = [(self.id.clone(), self.pool.clone())].into();
        let limits = ClaimLimits::total(16);
        let claims = self
            .store
            .claim_for_pools(&context, &[request], &limits, &pools);
        claims.unwrap().remove(0).unwrap();
        run
    }

    pub(super) fn claim_issue(&mut self, issue: &str) -> RunId {
        let issue = IssueId::parse(issue).unwrap();
        self.claim(RunTarget::Issue(issue), AgentType::Worker)
    }

    pub(super) fn run(&self, run: &RunId) -> Run {
        self.store.run(run).unwrap()
    }

    pub(super) fn until_ended(&self, run: &RunId) -> Run {
        until("the run has ended", || {
            Some(self.run(run)).filter(|run| !run.status.is_live())
        })
    }

    /// Moves the issue's branch to what the run's host brought, as the control does.
    pub(super) fn promote(&self, issue: &str, run: &RunId) -> String {
        let commits = self.store.run_commits(run).unwrap();
        let result = commits.result.unwrap();
        let branch = format!("refs/heads/symphony/{issue}");
        let before = commits.start.unwrap_or_else(|| "0".repeat(40));
        let at_hub = self
            .project
            .git(&["rev-parse", &format!("refs/symphony/runs/{run}")]);
        assert_eq!(at_hub, result);
        self.project.git(&["update-ref", &branch, &result, &before]);
        result
    }

    /// Starts a worker with a home and a folder of its own.
    pub(super) fn host(&self, name: &str, slots: u32) -> Host {
        self.host_on(&self.address, name, slots)
    }

    /// Starts a worker that reaches the database by another address.
    pub(super) fn host_on(&self, address: &str, name: &str, slots: u32) -> Host {
        let home = self.project.beside.join(name);
        let own = home.join(".config/symphony");
        std::fs::create_dir_all(&own).unwrap();
        let config = json!({ "sandbox": "off", "database": address });
        std::fs::write(own.join("config.json"), config.to_string()).unwrap();
        let data = home.join("data");
        let mut host = Host {
            name: name.to_owned(),
            home,
            data,
            slots,
            child: None,
        };
        host.begin(&[]);
        host
    }
}
