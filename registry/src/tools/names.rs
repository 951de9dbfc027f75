//! The names and descriptions of tools, also of those that the server provides, and the names of variables.

use crate::kit::text_type::{made_of, text_type};

text_type! {
    /// The name of a tool, unique among the organisation's live tools.
    ToolName = "tool name", "must be 1 to 64 characters of a-z 0-9 _", |text| {
        made_of(text, ToolName::BYTES_MAX, |c| matches!(c, 'a'..='z' | '0'..='9' | '_'))
    };
}

text_type! {
    /// The name of a tool that the server itself provides, and that has no id.
    NativeToolName = "native tool name", "must be 1 to 64 characters of a-z A-Z 0-9 _ -", |text| {
        made_of(text, NativeToolName::BYTES_MAX, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
}

text_type! {
    /// The description of a tool. Surrounding white space is trimmed. NUL is refused, because some databases refuse it.
    Description = "description", "must have 1 to 4096 bytes besides surrounding white space, and no NUL", |text| {
        made_of(text.trim(), Description::BYTES_MAX, |c| c != '\0')
    };
}

text_type! {
    /// The name of a variable of a tool.
    EnvvarName = "variable name", "must be 1 to 128 characters of A-Z 0-9 _, the first no digit", |text| {
        let allowed = |c| matches!(c, 'A'..='Z' | '0'..='9' | '_');
        made_of(text, EnvvarName::BYTES_MAX, allowed).filter(|name| !name.starts_with(|c: char| c.is_ascii_digit()))
    };
}

impl ToolName {
    /// Length of a tool name. It becomes part of a function name for models, which is limited to 64 characters.
    pub const BYTES_MAX: usize = 64;
}

impl NativeToolName {
    /// Length of a native tool's name, as of any function name for models.
    pub const BYTES_MAX: usize = 64;
}

impl Description {
    /// Length of a description: about a page, so that lists of tools stay small.
    pub const BYTES_MAX: usize = 4096;
}

impl EnvvarName {
    /// Length of a variable name. A longer name is probably a mistake.
    pub const BYTES_MAX: usize = 128;
}
