//! The tools of an agent that a user may call.

mod cache;
mod catalogues;
mod names;
mod search_index;
mod tools;

pub(crate) use cache::CATALOGUES;
pub use catalogues::Catalogues;
pub(crate) use search_index::{SearchIndex, ToolText};
pub(crate) use tools::name_tools;
pub use tools::{Catalogue, ListedSource, ListedTool, RUN_TOOL, SEARCH_TOOLS};
