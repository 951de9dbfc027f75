//! Prompts, resources and skills: tools that clients find as such, and items of the Library.

pub mod completion;
mod library_items;
mod library_reads;
mod library_uris;
mod mixed_list;
mod pages;
pub mod prompts;
pub mod resources;
pub mod skills;
pub mod tool_forms;
pub mod tool_prompts;
pub mod tool_resources;

pub use library_items::LibraryItems;
pub use library_reads::ItemReader;
pub use library_uris::{build_skill_uri, parse_artifact_id, parse_skill_id, refuse_uri};
pub use mixed_list::{MixedList, digest_tools};
pub use pages::build_page;
