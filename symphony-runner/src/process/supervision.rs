//! Starting, adopting, reaping and ending the processes of a run (spec: lifecycle, "Time limits and killing";
//! reliability, decision 6).
//!
//! The supervisor is a child subreaper, so whatever an agent starts stays below it, in whatever session. An agent
//! starts in its own session, and no process can join a session from outside. So everything below the supervisor that
//! is *not in the supervisor's session* belongs to the agent; what is in it (such as a git command of the exit
//! handling) belongs to the supervisor, and is left alone.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use symphony_core::id::RunId;

use super::agent::{Agent, AgentExit, AgentLaunch, AgentPlace, Spawned, locked};
use super::cgroup::{Cgroup, CgroupParent};
use super::cgroup_limits::ResourceLimits;
use super::ended::{Ended, SWEEP_TIME_MAX, survivors};
use super::error::ProcessError;
use super::family::descendants_within;
use super::git_grace::{GitGrace, LastWord};
use super::record::ProcessRecord;
use super::system::{self, ProcessHandle};
use super::trampoline;

/// How long an agent has between SIGTERM and SIGKILL (spec: lifecycle, "Time limits and killing").
pub const GRACE: Duration = Duration::from_secs(10);

/// Rounds of a sweep without a pause, because processes that fork and end all the time can only be caught by speed.
const BUSY_ROUNDS: u32 = 32;

/// The longest pause between rounds, in milliseconds.
const PAUSE_MILLISECONDS_MAX: u64 = 16;

/// How the agent's own process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEnd {
    /// It had already exited.
    ByItself,
    /// It exited after SIGTERM, within the grace time.
    OnRequest,
    /// It was killed.
    Killed,
}

/// The result of [`Supervision::end_tree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndReport {
    /// Exit code or signal of the agent's own process.
    pub exit: AgentExit,
    /// How it ended.
    pub end: AgentEnd,
    /// The other processes that had to be killed.
    pub strays: Ended,
}

/// Starts agents, and ends all of their processes.
///
/// It stays on the process's first thread, because the parent-death signal of an agent is bound to the thread that
/// started it.
#[derive(Debug)]
pub struct Supervision {
    pid: i32,
    session: i32,
    spawned: Spawned,
    cgroups: Option<RunCgroups>,
    bound_to_thread: PhantomData<*const ()>,
}

impl Supervision {
    /// Makes this process the subreaper of its descendants. Must be called once, from the first thread, before any
    /// agent is started.
    ///
    /// # Errors
    /// `NotMainThread`, `Unsupported`, or `System` when the system refuses.
    pub fn begin() -> Result<Self, ProcessError> {
        if !system::is_main_thread() {
            return Err(ProcessError::NotMainThread);
        }
        system::become_subreaper()?;
        // While SIGCHLD is ignored, which may be inherited from a shell, exit statuses are lost.
        trampoline::handle_ignored_signals(|signal| {
            signal == rustix::process::Signal::CHILD.as_raw()
        })?;
        Ok(Self {
            pid: system::own_pid(),
            session: system::own_session()?,
            spawned: Spawned::default(),
            cgroups: None,
            bound_to_thread: PhantomData,
        })
    }

    /// Gives each agent of a run its own cgroup from now on, if the machine allows it.
    #[must_use]
    pub fn with_cgroups(mut self, run: &RunId) -> Self {
        self.cgroups = CgroupParent::own().ok().map(|parent| RunCgroups {
            parent,
            run: run.clone(),
            next: Cell::new(0),
            limiting: OnceCell::new(),
        });
        self
    }

    /// Starts an agent in its own session. It gets SIGTERM when this process dies. Must be called in the context of a
    /// runtime with I/O.
    ///
    /// # Errors
    /// `ProgramNotFound`, `ProgramNotExecutable` or `Spawn`. [`Agent::start_failure`] reports what fails later, between
    /// the start and the program.
    pub fn spawn(&self, launch: AgentLaunch) -> Result<Agent, ProcessError> {
        let cgroups = self.cgroups.as_ref();
        let limited = launch
            .limits
            .zip(cgroups)
            .and_then(|(limits, cgroups)| cgroups.create_limited(limits));
        let is_limited = limited.is_some();
        let cgroup = limited.or_else(|| cgroups?.create());
        let place = AgentPlace { cgroup, is_limited };
        Agent::spawn(launch, self.pid, Spawned::clone(&self.spawned), place)
    }

    /// Reaps dead orphans, so that zombies do not pile up during a long run, and returns how many there were. Call it
    /// about once per second.
    ///
    /// Children that this process started itself are left to the code that waits for them.
    ///
    /// # Errors
    /// When the table of processes cannot be read.
    pub fn reap_orphans(&self) -> Result<usize, ProcessError> {
        let mut reaped = 0;
        for process in self.own_children()? {
            if self.is_dead_orphan(&process) && system::reap(process.pid)? {
                reaped += 1;
            }
        }
        Ok(reaped)
    }

    /// Ends the agent and every process of its tree, in whatever session, even if stopped or ignoring SIGTERM.
    ///
    /// An agent that is still running gets SIGTERM and has `grace` to exit. Then its group and every descendant get
    /// SIGKILL, repeatedly until none is left; git processes among them get SIGTERM and [`super::GIT_GRACE`] first. If
    /// the agent has already exited, only the last part happens. Must be called for every agent, and again after an
    /// error. The agent's output must be read or dropped meanwhile.
    ///
    /// # Errors
    /// `Survivors` when a process could not be ended within [`SWEEP_TIME_MAX`], `Table` or `System` when the system
    /// refuses.
    pub async fn end_tree(
        &self,
        agent: &mut Agent,
        grace: Duration,
    ) -> Result<EndReport, ProcessError> {
        self.end(agent, grace, Reach::Everything).await
    }

    /// Ends the agent and the processes of its session, and leaves other agents of this process alone, for commands
    /// that run at the same time. Processes that left the session are ended by [`Supervision::end_rest`], which must be
    /// called when all of them have ended.
    ///
    /// # Errors
    /// As [`Supervision::end_tree`].
    pub async fn end_session(
        &self,
        agent: &mut Agent,
        grace: Duration,
    ) -> Result<EndReport, ProcessError> {
        let session = agent.identity().pid;
        self.end(agent, grace, Reach::Session(session)).await
    }

    /// Ends every remaining process of agents, in whatever session.
    ///
    /// # Errors
    /// As [`Supervision::end_tree`].
    pub async fn end_rest(&self) -> Result<Ended, ProcessError> {
        let mut strays = Ended::default();
        self.end_strays(&mut strays, Reach::Everything, None)
            .await?;
        Ok(strays)
    }

    async fn end(
        &self,
        agent: &mut Agent,
        grace: Duration,
        reach: Reach,
    ) -> Result<EndReport, ProcessError> {
        let end = self.end_agent(agent, grace).await?;
        let mut strays = Ended::default();
        // The agent was not waited for, so its pid cannot belong to another group.
        let group = (end == AgentEnd::Killed).then_some(agent.identity().pid);
        self.end_strays(&mut strays, reach, group).await?;
        // A process that left the session, or forks too fast, is still in the cgroup.
        if let Some(cgroup) = agent.take_cgroup() {
            cgroup.end(&mut strays).await?;
        }
        let Ok(exit) = tokio::time::timeout(SWEEP_TIME_MAX, agent.wait()).await else {
            return Err(survivors(
                system::read_record(agent.identity().pid)?.as_slice(),
            ));
        };
        Ok(EndReport {
            exit: exit?,
            end,
            strays,
        })
    }

    /// Asks the agent to end, then kills it without waiting for its end.
    async fn end_agent(
        &self,
        agent: &mut Agent,
        grace: Duration,
    ) -> Result<AgentEnd, ProcessError> {
        if agent.try_wait()?.is_some() {
            return Ok(AgentEnd::ByItself);
        }
        agent.request_end()?;
        if let Ok(exit) = tokio::time::timeout(grace, agent.wait()).await {
            exit?;
            return Ok(AgentEnd::OnRequest);
        }
        // Its group is killed later, when the git processes in it have had their time.
        agent.kill_itself()?;
        Ok(AgentEnd::Killed)
    }

    /// Ends what is left of agents: git gets SIGTERM first, everything else is killed at once. `group` is the group of
    /// an agent that was killed and is not reaped yet.
    async fn end_strays(
        &self,
        strays: &mut Ended,
        reach: Reach,
        group: Option<i32>,
    ) -> Result<(), ProcessError> {
        let deadline = Instant::now() + SWEEP_TIME_MAX;
        let mut grace = GitGrace::begin();
        let mut look = Look::Quick;
        let mut round = 0;
        loop {
            let (living, dead): (Vec<_>, Vec<_>) = self
                .family(look, reach)?
                .into_iter()
                .partition(|process| process.is_alive);
            let spared: BTreeSet<i32> = living
                .iter()
                .filter(|process| grace.word_for(process) != LastWord::Kill)
                .map(|process| process.group)
                .collect();
            // Before the agent created its session there is no group with this number, which is no error.
            if let Some(group) = group.filter(|group| !spared.contains(group)) {
                system::kill_group(group)?;
            }
            // A dead process that was just reaped may have started another one before it died.
            let is_empty = self.bury(&dead, &spared)? == 0 && living.is_empty();
            match (is_empty, look) {
                (true, Look::Thorough) => return Ok(()),
                (true, Look::Quick) => {
                    look = Look::Thorough;
                    continue;
                }
                (false, _) => look = Look::Quick,
            }
            if Instant::now() >= deadline {
                return Err(survivors(&living));
            }
            for process in &living {
                let handle = ProcessHandle::open(process.pid, process.start_time)?;
                if let Some(handle) = handle
                    && grace.tell(process, &handle)?
                    && !locked(&self.spawned).contains(&process.pid)
                {
                    strays.note(process);
                }
            }
            pause(round).await;
            round += 1;
        }
    }

    /// Reaps dead orphans after killing their process groups. Until the dead member is reaped, no other group can get
    /// its number, and the kill reaches all members at once, so that processes that fork faster than they can be listed
    /// end, too.
    ///
    /// A group in which git got SIGTERM is left for now, and its dead with it.
    fn bury(&self, dead: &[ProcessRecord], spared: &BTreeSet<i32>) -> Result<usize, ProcessError> {
        let mut reaped = 0;
        for process in dead
            .iter()
            .filter(|process| !spared.contains(&process.group))
        {
            if process.parent == self.pid && self.is_dead_orphan(process) {
                system::kill_group(process.group)?;
                reaped += usize::from(system::reap(process.pid)?);
            }
        }
        Ok(reaped)
    }

    fn is_dead_orphan(&self, process: &ProcessRecord) -> bool {
        !process.is_alive
            && process.session != self.session
            && !locked(&self.spawned).contains(&process.pid)
    }

    fn own_children(&self) -> Result<Vec<ProcessRecord>, ProcessError> {
        let Some(children) = system::children(self.pid)? else {
            let mut records = system::read_records()?;
            records.retain(|record| record.parent == self.pid);
            return Ok(records);
        };
        let mut records = Vec::new();
        for child in children {
            records.extend(system::read_record(child)?.filter(|record| record.parent == self.pid));
        }
        Ok(records)
    }

    /// Lists the agent's processes, including dead ones, parents first.
    fn family(&self, look: Look, reach: Reach) -> Result<Vec<ProcessRecord>, ProcessError> {
        let table = match look {
            Look::Quick => table_below(self.pid)?,
            Look::Thorough => system::read_records()?,
        };
        let roots: Vec<ProcessRecord> = table
            .iter()
            .filter(|record| record.parent == self.pid && record.session != self.session)
            .filter(|record| reach.includes(record))
            .cloned()
            .collect();
        let pids: Vec<i32> = roots.iter().map(|record| record.pid).collect();
        let below = descendants_within(&table, &pids);
        Ok(roots.into_iter().chain(below).collect())
    }
}

/// Lists the living descendants of a process, parents first.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn descendants(pid: i32) -> Result<Vec<ProcessRecord>, ProcessError> {
    let mut found = descendants_within(&system::read_records()?, &[pid]);
    found.retain(|record| record.is_alive);
    Ok(found)
}

/// The cgroups of a run.
#[derive(Debug)]
struct RunCgroups {
    parent: CgroupParent,
    run: RunId,
    next: Cell<u32>,
    /// Where those with limits can be made, once one was asked for.
    limiting: OnceCell<Option<CgroupParent>>,
}

impl RunCgroups {
    /// Creates the next one. Returns `None` when the machine refuses; the program then stays in the supervisor's
    /// cgroup.
    fn create(&self) -> Option<Cgroup> {
        let made = self.parent.create(&self.run, self.number());
        made.map_err(|error| tracing::debug!(%error, "no cgroup is made"))
            .ok()
    }

    /// Creates the next one with limits. Returns `None` when the machine has none for this user.
    fn create_limited(&self, limits: ResourceLimits) -> Option<Cgroup> {
        let parent = self.limiting.get_or_init(|| {
            CgroupParent::limiting()
                .map_err(|error| tracing::info!(%error, "the limit of memory is not enforced"))
                .ok()
        });
        let mut made = parent.as_ref()?.create(&self.run, self.number()).ok()?;
        match made.limit(limits) {
            Ok(()) => Some(made),
            Err(error) => {
                tracing::warn!(%error, "the limit of memory is not enforced");
                None
            }
        }
    }

    fn number(&self) -> u32 {
        self.next.replace(self.next.get().saturating_add(1))
    }
}

/// Which processes are ended.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// All of every agent.
    Everything,
    /// Those of one agent's session, and their descendants.
    Session(i32),
}

impl Reach {
    fn includes(self, record: &ProcessRecord) -> bool {
        match self {
            Self::Everything => true,
            Self::Session(session) => record.session == session,
        }
    }
}

/// How the processes are searched.
#[derive(Debug, Clone, Copy)]
enum Look {
    /// By the lists of children: fast, but may miss a process that is just being started.
    Quick,
    /// By the whole table.
    Thorough,
}

/// Reads the records below a process from the lists of children, or the whole table if the kernel has no such lists.
fn table_below(pid: i32) -> Result<Vec<ProcessRecord>, ProcessError> {
    let mut records = BTreeMap::new();
    let mut asked = BTreeSet::from([pid]);
    let mut queue = vec![pid];
    while let Some(parent) = queue.pop() {
        let Some(children) = system::children(parent)? else {
            return system::read_records();
        };
        for child in children {
            if asked.insert(child)
                && let Some(record) = system::read_record(child)?
            {
                records.insert(child, record);
                queue.push(child);
            }
        }
    }
    Ok(records.into_values().collect())
}

async fn pause(round: u32) {
    if round < BUSY_ROUNDS {
        tokio::task::yield_now().await;
        return;
    }
    let doubled = 1u64 << (round - BUSY_ROUNDS).min(10);
    tokio::time::sleep(Duration::from_millis(doubled.min(PAUSE_MILLISECONDS_MAX))).await;
}
