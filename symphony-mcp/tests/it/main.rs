//! Integration tests of symphony-mcp.
