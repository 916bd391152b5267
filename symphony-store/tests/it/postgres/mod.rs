//! The store on a PostgreSQL server that fails: commits without an answer, broken connections, restarts, kills.
//!
//! `SYMPHONY_TEST_DATABASE` names the server; without it these tests have nothing to run on. `.ci/run postgres` starts one.

mod away;
mod beats;
mod kills;
mod lost_commit;
mod meeting;
mod own_writes;
mod proxy;
pub(crate) mod server;
mod turn;

use symphony_store::Store;

use crate::support::add_project;
use proxy::Address;

/// Returns the address of the tests' server.
fn address() -> Option<Address> {
    let text = std::env::var("SYMPHONY_TEST_DATABASE").ok()?;
    Some(Address::parse(&text))
}

/// Returns a name for a schema that no other test has.
fn new_schema() -> String {
    format!("test_{}", uuid::Uuid::new_v4().simple())
}

/// A store at an address, and its schema, with one project.
fn new_store(address: &str) -> (Store, String) {
    let schema = new_schema();
    let mut store = Store::connect(address, &schema).unwrap();
    add_project(&mut store);
    (store, schema)
}
