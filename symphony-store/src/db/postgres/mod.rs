//! The database in PostgreSQL.
//!
//! Each statement is sent with the types of its values, in one round trip and without a name, so that a pooler between here and
//! the server may give each transaction another connection.

mod dialect;
#[cfg(test)]
mod texts;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls, Row};

use super::{DbError, Params};
use value::Value;
pub(super) use value::column;

/// What every session begins with (spec: scale-out, "Session").
const SESSION: &str = "SET idle_in_transaction_session_timeout = '3s'; SET lock_timeout = '10s'; SET statement_timeout = '15s'; \
     SET client_min_messages = 'warning'";
/// The functions of SQLite that the store's statements use, and the schema.
const SCHEMA: &str = concat!(
    include_str!("../../database/schema/postgres/functions.sql"),
    include_str!("../../database/schema/postgres/base.sql")
);

/// A connection to PostgreSQL.
pub(crate) struct Postgres {
    client: RefCell<Client>,
    /// The texts of statements for PostgreSQL, by their own.
    texts: RefCell<HashMap<String, Arc<str>>>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}

impl Postgres {
    /// Connects to a server, and uses one schema of the database, which is filled if it does not exist.
    pub(crate) fn connect(config: &Config, schema: &str) -> Result<Self, DbError> {
        let mut client = config.connect(NoTls)?;
        client.batch_execute(SESSION)?;
        let schema = format!("\"{}\"", schema.replace('"', "\"\""));
        let exists: bool = client
            .query_one("SELECT to_regnamespace($1) IS NOT NULL", &[&schema])?
            .get(0);
        if exists {
            client.batch_execute(&format!("SET search_path TO {schema}"))?;
        } else {
            client.batch_execute(&format!(
                "BEGIN; CREATE SCHEMA {schema}; SET search_path TO {schema}; {SCHEMA}; COMMIT"
            ))?;
        }
        Ok(Self {
            client: RefCell::new(client),
            texts: RefCell::default(),
        })
    }

    /// Returns a statement's text for PostgreSQL.
    pub(super) fn text(&self, sql: &str) -> Arc<str> {
        if let Some(text) = self.texts.borrow().get(sql) {
            return Arc::clone(text);
        }
        let text: Arc<str> = dialect::translate(sql).into();
        let mut texts = self.texts.borrow_mut();
        texts.insert(sql.to_owned(), Arc::clone(&text));
        text
    }

    /// Runs statements without parameters.
    pub(super) fn execute_batch(&self, sql: &str) -> Result<(), DbError> {
        Ok(self.client.borrow_mut().batch_execute(sql)?)
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(super) fn execute(&self, text: &str, params: impl Params) -> Result<usize, DbError> {
        let values = Value::all(params)?;
        let typed = typed(&values);
        let changed = self.client.borrow_mut().execute_typed(text, &typed)?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a query, and returns all its rows.
    pub(super) fn query(&self, text: &str, params: impl Params) -> Result<Vec<Row>, DbError> {
        let values = Value::all(params)?;
        let typed = typed(&values);
        Ok(self.client.borrow_mut().query_typed(text, &typed)?)
    }

    /// Returns the names of a query's columns.
    pub(super) fn column_names(&self, text: &str) -> Result<Vec<String>, DbError> {
        let statement = self.client.borrow_mut().prepare(text)?;
        let columns = statement.columns().iter();
        Ok(columns.map(|column| column.name().to_owned()).collect())
    }
}

fn typed(values: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let with_type = |value| (value as &(dyn ToSql + Sync), Value::kind(value));
    values.iter().map(with_type).collect()
}
