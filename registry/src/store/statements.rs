//! The kit with which a crate writes statements that has tables of its own in the database ([`OtherTables`]).
//!
//! Such a crate writes with [`Store::write`](super::Store::write) and [`Store::write_or_refuse`](super::Store::write_or_refuse), and
//! reads with [`Store::readers`](super::Store::readers) and [`Store::open_listing`](super::Store::open_listing). Its writes name the rows that
//! servers keep in memory ([`Connection::announce`]).

pub use super::changes::{Change, ChangeKind};
pub use super::database::{Connection, Failure, Pool, Query, Row, Statement, Value, damaged, get};
pub use super::other_tables::{AccountEnd, OtherTables};
pub use super::page_tokens::filter_name;
pub use super::queued::{Work, WriteError, Writing};
pub use super::sql::access::oauth_grants::revoke_grants_of_agent;
pub use super::sql::history::list::begin_statement_of;
pub use super::sql::history::record_pages::{FoundRecord, count_fitting, fit_page, read_whole};
pub use super::sql::kit::counts::{require_changed, require_within};
pub use super::sql::kit::list::List;
pub use super::sql::kit::listing::Listing;
pub use super::sql::kit::row::{
    parse_column, parse_optional_column, read_json, read_optional_timestamp, read_timestamp, read_unsigned, to_json,
    to_list, to_signed,
};
pub use super::sql::kit::sequence_order::{SortedBy, add_order, sort_keys};
pub use super::sql::versions::version::read_live_versions;
