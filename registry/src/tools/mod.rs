//! Tools: names, tags and variables.

mod missing_variable;
mod names;
mod tags;
mod tool;
mod variables;

pub use missing_variable::MissingVariable;
pub use names::{Description, EnvvarName, NativeToolName, ToolName};
pub use tags::Tags;
pub(crate) use tags::parse_tag_text;
pub use tool::{NewTool, TagFilter, TagValue, Tool, ToolChanges, ToolFilter, ToolRef, ToolSort};
pub use variables::{EnvvarChanges, EnvvarInsert, EnvvarUpdate, SecretValue, Variables};
