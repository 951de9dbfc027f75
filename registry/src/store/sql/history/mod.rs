//! Statements about the record of runs: inserting, reading, listing, searching and deleting records, tapes and answers, and legal holds.

mod answers;
mod effect_filters;
mod effect_rows;
mod effect_spans;
mod expired_runs;
pub(in crate::store) mod filters;
mod handle;
mod holds;
mod insert_beside;
pub(in crate::store) mod insert_records;
mod invocations;
pub(in crate::store) mod list;
pub(in crate::store) mod list_parts;
pub(in crate::store) mod list_start;
mod one_record;
pub(in crate::store) mod order;
mod origin;
pub(in crate::store) mod record_pages;
pub(in crate::store) mod record_rows;
pub(super) mod records;
mod run_end;
mod run_group;
mod run_groups;
pub(in crate::store) mod run_start;
pub(in crate::store) mod search;
mod search_columns;
mod search_facets;
pub(in crate::store) mod search_rebuild;
pub(in crate::store) mod search_windows;
pub(in crate::store) mod taped_runs;
mod tapes;
pub(in crate::store) mod text_search;
mod unlink;

pub use handle::History;
