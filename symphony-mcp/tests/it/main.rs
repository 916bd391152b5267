//! Integration tests of symphony-mcp: a real client, a real database.

#[cfg(test)]
mod arguments;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod health;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod points;
#[cfg(test)]
mod project;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod socket;
#[cfg(test)]
mod subtask;
#[cfg(test)]
mod support;
