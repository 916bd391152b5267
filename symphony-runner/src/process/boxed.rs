//! The program inside of bubblewrap, seen from outside.
//!
//! bubblewrap has a process outside of its PID namespace, which is the supervisor's child, and one inside with the number 1
//! there, which starts the program as its first child and adopts what the program leaves.

use super::error::ProcessError;
use super::identity::ProcessIdentity;
use super::record::ProcessRecord;
use super::system;

/// Finds the program that bubblewrap runs; `None` before it runs and after it ended.
pub(super) fn boxed_program(
    bubblewrap: &ProcessIdentity,
) -> Result<Option<ProcessIdentity>, ProcessError> {
    let records = system::read_records()?;
    let Some(program) = program_of(&records, bubblewrap.pid) else {
        return Ok(None);
    };
    Ok(Some(ProcessIdentity {
        pid: program.pid,
        start_time: program.start_time,
        boot_id: bubblewrap.boot_id.clone(),
    }))
}

/// Returns the oldest child of bubblewrap's child: whatever the program leaves became a child there later.
fn program_of(records: &[ProcessRecord], bubblewrap: i32) -> Option<&ProcessRecord> {
    let children = |parent: i32| {
        let all = records.iter().filter(move |record| record.parent == parent);
        all.filter(|record| record.is_alive)
    };
    let inner = children(bubblewrap).next()?;
    children(inner.pid).min_by_key(|record| (record.start_time, record.pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pid: i32, parent: i32, start_time: u64) -> ProcessRecord {
        ProcessRecord {
            pid,
            name: String::new(),
            is_alive: true,
            parent,
            group: pid,
            session: pid,
            start_time,
            terminal: 0,
        }
    }

    #[test]
    fn the_program_is_the_first_child_of_the_first_process_inside() {
        let outer = record(10, 1, 100);
        let inner = record(11, 10, 101);
        let agent = record(12, 11, 102);
        let adopted = record(13, 11, 103);
        let helper = record(14, 12, 102);
        let found = |records: &[&ProcessRecord]| {
            let records: Vec<_> = records.iter().map(|record| (*record).clone()).collect();
            program_of(&records, 10).map(|record| record.pid)
        };
        assert_eq!(found(&[&outer]), None);
        assert_eq!(found(&[&outer, &inner]), None);
        let all = [&adopted, &helper, &agent, &inner, &outer];
        assert_eq!(found(&all), Some(12));
        let ended = ProcessRecord {
            is_alive: false,
            ..agent.clone()
        };
        assert_eq!(found(&[&outer, &inner, &ended]), None);
    }
}
