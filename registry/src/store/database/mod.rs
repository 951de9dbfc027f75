//! The database as the statements see it: connections, queries with values, rows. What differs between databases is behind
//! [`Database`], [`Connections`] and [`Session`], which each database implements.

mod connection;
mod failure;
mod fetch;
mod installation;
mod query;
mod row;
mod template;
mod text_search;
mod value;

pub use connection::{Connection, Execute, Pool, Running};
pub(super) use connection::{Connections, PoolCount, Session};
pub use failure::{Failure, FailureKind};
pub(super) use installation::{Database, Hear, Watch};
pub use installation::{DatabaseState, SchemaState};
pub use query::{Query, Statement};
pub use row::{Columns, FromColumn, Row, damaged, get};
pub(super) use template::expand;
pub(super) use text_search::{Block, Phrase, TextSearch, Window};
pub use value::Value;
