//! Integration tests of symphony-core.

mod tool_table;
