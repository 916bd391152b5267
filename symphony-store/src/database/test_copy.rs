//! Databases of tests on a server. Each is a copy of one that has the tables: that takes a fifth of the time of making them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio_postgres::Config;
use tokio_postgres::types::Type;

use crate::database::server::creation;
use crate::db::postgres::{Client, ConnectError};

/// The schema that each copy has.
pub(super) const SCHEMA: &str = "symphony";
/// How many copies of this process stay when no session uses them any more: a test may be about to connect.
const KEPT: u32 = 30;
/// How many copies this process has made.
static COPIES: AtomicU32 = AtomicU32::new(0);
/// The name of the database that has the tables, once it is there.
static TEMPLATE: Mutex<Option<String>> = Mutex::new(None);

/// Makes a database with empty tables, and returns its address. Removes one that earlier tests of this process have left.
pub(super) fn copy(server: &Config) -> Result<Config, ConnectError> {
    let client = Client::connect(server, None)?;
    let template = template(server, &client)?;
    let number = COPIES.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    if let Some(last) = number.checked_sub(KEPT) {
        let earlier: Vec<String> = (0..=last)
            .map(|number| format!("test_{process}_{number}"))
            .collect();
        let unused = client.query_typed(
            "SELECT datname::text FROM pg_database AS d WHERE datname::text = ANY(string_to_array($1, ' ')) \
             AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datid = d.oid) LIMIT 1",
            &[(&earlier.join(" "), Type::TEXT)],
        )?;
        if let Some(row) = unused.first() {
            let name: &str = row.get(0);
            // another test may just remove the same one
            let _removed = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}"));
        }
    }
    let name = format!("test_{process}_{number}");
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}"))?;
    let mut config = server.clone();
    config.dbname(&name);
    Ok(config)
}

/// Returns the database that has the tables, and makes it if this is the first test that asks.
fn template(server: &Config, client: &Client) -> Result<String, ConnectError> {
    let mut made = TEMPLATE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = &*made {
        return Ok(name.clone());
    }
    let tables = creation();
    let mut hasher = DefaultHasher::new();
    tables.hash(&mut hasher);
    let name = format!("symphony_tables_{:x}", hasher.finish());
    // other processes test at the same time
    client.batch_execute(
        "SELECT pg_advisory_lock(hashtextextended('symphony tables of tests', 0))",
    )?;
    let found = client.query_typed(
        "SELECT 1 FROM pg_database WHERE datname = $1",
        &[(&name, Type::NAME)],
    )?;
    if found.is_empty() {
        let unfinished = format!("{name}_unfinished");
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {unfinished}"))?;
        client.batch_execute(&format!("CREATE DATABASE {unfinished}"))?;
        let mut config = server.clone();
        config.dbname(&unfinished);
        let inside = Client::connect(&config, None)?;
        inside.batch_execute(&format!(
            "BEGIN; CREATE SCHEMA {SCHEMA}; SET search_path TO {SCHEMA}; {tables}; COMMIT"
        ))?;
        drop(inside);
        client.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}"))?;
    }
    client.batch_execute("SELECT pg_advisory_unlock_all()")?;
    *made = Some(name.clone());
    Ok(name)
}
