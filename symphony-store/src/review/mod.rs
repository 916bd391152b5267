//! Reviews: pull requests, phase deliveries, proposals that nothing is left to do, and the points of reviewers.

pub(crate) mod delivery;
pub(crate) mod delivery_query;
pub(crate) mod done;
pub(crate) mod done_record;
pub(crate) mod end;
pub(crate) mod phase_verdict;
pub(crate) mod point;
pub(crate) mod point_judge;
pub(crate) mod point_migration;
pub(crate) mod point_write;
pub(crate) mod pull_request;
pub(crate) mod pull_request_base;
pub(crate) mod pull_request_look;
pub(crate) mod pull_request_query;
pub(crate) mod pull_request_write;
pub(crate) mod refusal;
pub(crate) mod state;
pub(crate) mod superseded;
pub(crate) mod taken_back;
