//! Integration tests of symphony-prompt.

mod worker_goldens;
