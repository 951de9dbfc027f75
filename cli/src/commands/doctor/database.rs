//! The check of the database: that it can be reached, and that a server of this release can use it. Nothing of it is changed.

use registry::{Config, DatabaseState, SchemaState, inspect_database};

use super::check::{Check, found, missing};
use crate::failure::find_hint_for;
use crate::server::Location;

const NAME: &str = "database";

/// `None` for a directory without a database, which the first start of a server makes.
pub async fn check(location: &Location) -> Option<Check> {
    let state = match inspect_database(&location.database, &location.directory).await {
        Ok(state) => state?,
        Err(error) => return Some(missing(NAME, error.to_string(), find_hint_for(&error))),
    };
    Some(found(NAME, describe(&state)))
}

fn describe(state: &DatabaseState) -> String {
    let DatabaseState { product, schema, connections_max } = state;
    let schema = match schema {
        SchemaState::Empty => "is empty; the first server makes the tables".to_owned(),
        SchemaState::Current { number } => format!("has the schema of this release (migration {number})"),
        SchemaState::Older { applied, known } => {
            format!("has the schema of an earlier release (migration {applied}); the next server makes it {known}")
        }
    };
    let connections = connections_max.map(|accepted| {
        let taken = Config::default().database_connections_max();
        format!("; max_connections is {accepted}, of which each server takes up to {taken}")
    });
    format!("{product} {schema}{}", connections.unwrap_or_default())
}
