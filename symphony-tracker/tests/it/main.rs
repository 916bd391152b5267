//! Tests of the crate from outside.

mod prop_text;
