//! The one database of Symphony: schema, migrations, claims, events, queries.
