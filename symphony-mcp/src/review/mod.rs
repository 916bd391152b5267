//! What judges say of work, and what its author answers: verdicts, points, acceptance criteria.

pub(crate) mod criteria;
pub(crate) mod points;
pub(crate) mod verdict;
