//! A control, which is played through the store where no tick is needed.

use std::num::NonZeroU64;
use std::time::Duration;

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ServerAddress;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::placement::{Lease, Pool};
use symphony_core::run::{Fence, ProtectionLevel, Run, RunTarget};
use symphony_core::tick::StartRun;
use symphony_store::{ClaimLimits, ClaimRequest, Context, Store};

use super::host::{DIVISOR, Host};
use crate::on_postgres::{address, psql, repository};
use crate::support::{Project, text, until};

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
        Self::on(address(name), scenarios)
    }

    /// Makes one whose database is at an address.
    pub(super) fn on(address: String, scenarios: &Value) -> Self {
        let mut project = repository(&address);
        project.set_variable("SYMPHONY_TEST_LEASE_DIVISOR", DIVISOR);
        let project = project.set_up(scenarios, &json!({}));
        let mut store = Store::open_on(&ServerAddress::parse(&address).unwrap()).unwrap();
        let id = store.projects().unwrap().remove(0).id;
        let text = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
        let own: Value = serde_json::from_str(&text).unwrap();
        let layers = json!([{ "sandbox": "off", "pool": "linux" }, own]);
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

    /// Takes the oldest run of the pool for a host, as its worker does before it starts a supervisor.
    pub(super) fn take_for(&mut self, host: &str) -> Run {
        let host = symphony_core::placement::Host::parse(host).unwrap();
        self.store.take(&self.pool, &host).unwrap().unwrap()
    }

    /// Connects again, to a server that was away.
    pub(super) fn reconnect(&mut self) {
        self.store = Store::open_on(&ServerAddress::parse(&self.address).unwrap()).unwrap();
    }

    /// Hands the project over with another hub.
    pub(super) fn hand_hub(&mut self, address: &str) {
        let handed = self.store.handed_project(&self.id).unwrap().unwrap();
        self.store
            .hand_project(&self.id, &handed.layers, Some(address))
            .unwrap();
    }

    /// Claims a run for the pool, as a tick does.
    fn claim(&mut self, target: RunTarget, agent: AgentType) -> RunId {
        let run = RunId::parse(symphony_store::new_installation_id().to_string()).unwrap();
        let request = ClaimRequest {
            run: run.clone(),
            start: StartRun {
                project: self.id.clone(),
                target,
                agent,
                phase: None,
                attempt: 1,
                provider: "scripted".to_owned(),
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

    /// Takes a run away from its host, however short it was silent.
    pub(super) fn take_back(&mut self, run: &RunId) -> Fence {
        let fence = self.run(run).fence;
        let other = symphony_core::placement::Host::parse("control").unwrap();
        // with a lease of no time, every run is lost
        let lease = Lease::default().shortened(NonZeroU64::new(1_000_000).unwrap());
        until("the run is taken back", || {
            self.store.take_back(run, fence, &other, lease).unwrap()
        })
    }

    /// Sets the clock that statements read: the function by which the tests' schema has it is replaced.
    pub(super) fn set_clock_ahead(&self, seconds: u32) {
        let schema = self.address.rsplit("schema=").next().unwrap();
        let replace = format!(
            "CREATE OR REPLACE FUNCTION \"{schema}\".unixepoch(t text) RETURNS double precision VOLATILE STRICT LANGUAGE sql AS
             'SELECT extract(epoch FROM clock_timestamp())::double precision + {seconds}'"
        );
        psql(&replace);
    }

    /// Ticks once, as cron does.
    pub(super) fn tick(&self) {
        let answer = self.project.symphony(&["tick", "--json"]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        std::thread::sleep(Duration::from_millis(500));
    }

    /// Ticks until a judge has approved the only change and all runs have ended: a judge that has given its verdict runs on for a moment.
    pub(super) fn until_approved(&self) -> Value {
        until("a judge has approved and every run has ended", || {
            self.tick();
            let list = self.project.json(&["pr", "list"]);
            let pr = list["items"].get(0)?.clone();
            let is_quiet = self.runs().iter().all(|run| !run.status.is_live());
            (pr["state"] == "approved" && is_quiet).then_some(pr)
        })
    }

    /// Returns all runs.
    pub(super) fn runs(&self) -> Vec<Run> {
        let list = self.project.json(&["runs", "list"]);
        let items = list["items"].as_array().unwrap();
        let ids = items
            .iter()
            .map(|run| RunId::parse(text(&run["id"])).unwrap());
        ids.map(|id| self.run(&id)).collect()
    }

    /// Starts a worker with a home and a folder of its own.
    pub(super) fn host(&self, name: &str, slots: u32) -> Host {
        self.host_on(&self.address, name, slots)
    }

    /// Has control and host beat as rarely as they do for people, and starts a worker, with more in its configuration.
    pub(super) fn host_without_haste(&mut self, name: &str, more: &Value) -> Host {
        self.project
            .set_variable("SYMPHONY_TEST_LEASE_DIVISOR", "1");
        let mut host = self.prepared_host(name, 1, more);
        host.divisor = "1";
        host.begin(&[]);
        host
    }

    /// Starts a worker that reaches the database by another address.
    pub(super) fn host_on(&self, address: &str, name: &str, slots: u32) -> Host {
        self.host_with(name, slots, &json!({ "database": address }))
    }

    /// Starts a worker with more in the configuration of its host.
    pub(super) fn host_with(&self, name: &str, slots: u32, more: &Value) -> Host {
        let mut host = self.prepared_host(name, slots, more);
        host.begin(&[]);
        host
    }

    /// Returns a host whose worker has not started.
    pub(super) fn idle_host(&self, name: &str) -> Host {
        self.prepared_host(name, 1, &json!({}))
    }

    /// Returns a host whose worker is not started yet, with more in the configuration of its host.
    pub(super) fn prepared_host(&self, name: &str, slots: u32, more: &Value) -> Host {
        let home = self.project.beside.join(name);
        let own = home.join(".config/symphony");
        std::fs::create_dir_all(&own).unwrap();
        let mut config = json!({ "sandbox": "off", "database": self.address });
        for (key, value) in more.as_object().unwrap() {
            config[key] = value.clone();
        }
        std::fs::write(own.join("config.json"), config.to_string()).unwrap();
        let data = home.join("data");
        Host {
            name: name.to_owned(),
            home,
            data,
            slots,
            divisor: DIVISOR,
            child: None,
        }
    }
}
