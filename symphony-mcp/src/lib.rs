//! The MCP service that agents report through: tools, roles, transports.
