//! The operations of the HTTP API that call native tools.

/// A method and a path that call a native tool. The parameters of the path are arguments of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolRoute {
    pub verb: Verb,
    pub path: &'static str,
    /// The name of the operation. `None` for the name of the tool.
    name: Option<&'static str>,
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl ToolRoute {
    #[must_use]
    pub const fn get(path: &'static str) -> Self {
        Self { verb: Verb::Get, path, name: None }
    }

    #[must_use]
    pub const fn post(path: &'static str) -> Self {
        Self { verb: Verb::Post, path, name: None }
    }

    #[must_use]
    pub const fn put(path: &'static str) -> Self {
        Self { verb: Verb::Put, path, name: None }
    }

    #[must_use]
    pub const fn patch(path: &'static str) -> Self {
        Self { verb: Verb::Patch, path, name: None }
    }

    #[must_use]
    pub const fn delete(path: &'static str) -> Self {
        Self { verb: Verb::Delete, path, name: None }
    }

    /// Names the operation of a second route to a tool.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// The name of the operation that calls a tool.
    #[must_use]
    pub fn operation(&self, tool: &'static str) -> &'static str {
        self.name.unwrap_or(tool)
    }

    /// The names of the parameters in the path.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

impl Verb {
    /// Whether the request has a body.
    #[must_use]
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}
