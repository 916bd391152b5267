//! The whole table of tools and roles, as the specification's `mcp.md` has it.

use std::fmt::Write as _;

use symphony_core::tools::{Role, Tool};

#[test]
fn the_table_of_tools_and_roles() {
    let mut table = String::new();
    for tool in Tool::ALL {
        let roles: Vec<String> = Role::ALL
            .iter()
            .filter(|role| role.allowed().contains(*tool))
            .map(|role| match (tool, role.status_permission()) {
                (Tool::UpdateIssueStatus, Some(permission)) => format!("{role} ({permission})"),
                _ => role.to_string(),
            })
            .collect();
        writeln!(table, "{tool}\n    {}", roles.join(", ")).unwrap();
    }
    insta::assert_snapshot!(table);
}
