//! How a standing reads.

use std::fmt;

use super::{Dependency, Item, Standing};
use crate::listing::list_few;

/// Dependencies that a sentence names.
const NAMED_MAX: usize = 5;

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(issue) => write!(f, "{issue}"),
            Self::PullRequest(pr) => write!(f, "pull request {pr}"),
            Self::Publication(pr) => write!(f, "the publication of pull request {pr}"),
            Self::Plan(plan) => write!(f, "plan {plan}"),
        }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(item) => write!(f, "{item}"),
            Self::Wizard(project) => write!(f, "the setup wizard of {project}"),
            Self::Reviews(project) => write!(f, "the reviews of {project}"),
            Self::Slot => f.write_str("a free slot"),
            Self::Queue => f.write_str("those before it"),
            Self::PlanDriver => f.write_str("the command that continues it"),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runnable => f.write_str("the next tick continues it"),
            Self::Due { at } => write!(f, "a tick continues it at {at}"),
            Self::Live { run } => write!(f, "run {run} is live on it"),
            Self::WaitsFor { dependencies } => {
                let names: Vec<String> = dependencies.iter().map(ToString::to_string).collect();
                let names = list_few(names.iter().map(String::as_str), NAMED_MAX);
                write!(f, "it waits for {names}")
            }
            Self::WaitsForPerson { .. } => f.write_str("it is in the inbox"),
            Self::NotAskedFor => f.write_str("it has not been asked for yet"),
            Self::Stranded { why } => f.write_str(why),
        }
    }
}
