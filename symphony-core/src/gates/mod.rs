//! What a gate's failure means: the same one as before, one that the base has too, or a new one
//! (spec: orchestrator, "Verified, not reported").

mod again;
mod age;
mod base_red;
mod base_text;
mod failure;
mod need;
mod no_result;
mod order;
mod output;
mod programs;
mod reads;
mod repair;
mod route;
mod telling;
mod untried;

pub use again::{GateResult, Tries};
pub use age::{ConfiguredGate, GatesAge};
pub use base_red::{
    BASE_HAS_CHANGED, RedOnBase, SetUpFault, SetUpOnBase, base_red_text, may_hold_for_set_up,
    persons_part, retry_when_changed, set_up_fault, way_to_repair, ways_on, with_setup_log,
};
pub use base_text::named_gate;
pub use failure::{FailurePrint, failure_print};
pub use need::{BaseDigests, BaseGates, RepairNeed, repair_need};
pub use no_result::{
    GATE_DEATHS_MAX, deadly_gates_text, died_text, no_result_text, red_gates_text,
};
pub use order::{groups, with_those_before};
pub use output::normal_lines;
pub use programs::{OutsideProgram, outside_programs};
pub use reads::{Brings, head_counts_for_merge};
pub use repair::{FIXES_GATE_LABEL, GateRepair, KnownGates, fixes_gate, repaired_gates};
pub use route::{
    BaseComparison, BaseRecord, GatesEnd, GatesOutcome, GatesRouting, PastFailure, RepeatedFailure,
    compare_with_base, needs_base_comparison, route_gates_end, route_plan_gates_end,
};
pub use telling::{telling_line, telling_lines};
pub use untried::{GateToTry, untried_gates};

#[cfg(test)]
mod tests;
