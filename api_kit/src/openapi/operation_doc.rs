//! The description of an operation, written beside its handler.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::Parameter;
use super::error_codes::{BRANCH_ERRORS, StatusAndCodes};

/// A section of the reference. The route table has the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The place of the section among the others.
    pub position: u8,
    pub name: &'static str,
    pub description: &'static str,
}

/// Texts, responses and errors of an operation. Its inputs come from its handler.
#[derive(Clone, Debug)]
pub struct OperationDoc {
    pub(super) id: &'static str,
    pub(super) tag: Tag,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) parameters: Vec<Parameter>,
    /// Media types of a body that is not JSON.
    pub(super) binary_bodies: &'static [&'static str],
    pub(super) successes: Vec<Success>,
    pub(super) errors: Vec<StatusAndCodes>,
    /// The fields of a form that is the body.
    pub(super) form: Option<fn() -> Value>,
    /// Statuses whose body can have another form than an error of this API.
    pub(super) other_errors: Vec<(OtherError, &'static [u16])>,
    pub(super) links: Vec<Link>,
    /// Whether all errors have the form of a tool's failure.
    pub(super) has_envelopes: bool,
}

/// Forms of errors besides those of this API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherError {
    JsonRpc,
    /// The name of a schema in `components.schemas`.
    Schema(&'static str),
    Page,
    /// In the forms that git and Git LFS show.
    Git,
}

/// A successful response.
#[derive(Clone, Debug)]
pub(super) struct Success {
    pub(super) status: u16,
    pub(super) description: &'static str,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Nothing,
    Json {
        schema: fn(&mut SchemaGenerator) -> Schema,
        example: Value,
    },
    /// JSON whose schema is no type of this crate.
    Described {
        schema: Value,
    },
    Bytes {
        media_types: &'static [&'static str],
    },
}

/// A parameter of another operation that a value of the response can fill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) operation: &'static str,
    pub(super) parameter: &'static str,
    pub(super) pointer: &'static str,
}

impl OperationDoc {
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// `id` never changes, since clients are generated from it; the summary is a title without a full stop.
    pub const fn new(id: &'static str, tag: Tag, summary: &'static str) -> Self {
        Self {
            id,
            tag,
            summary,
            description: "",
            parameters: Vec::new(),
            binary_bodies: &[],
            successes: Vec::new(),
            errors: Vec::new(),
            form: None,
            other_errors: Vec::new(),
            links: Vec::new(),
            has_envelopes: false,
        }
    }

    /// The description, in Markdown.
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// A success with a JSON body of type `T`. A test checks that the schema admits the example.
    pub fn returns<T: JsonSchema>(mut self, status: u16, description: &'static str, example: Value) -> Self {
        let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<T>();
        self.successes.push(Success { status, description, content: Content::Json { schema, example } });
        self
    }

    /// A success with a JSON body that this schema describes.
    pub fn returns_schema(mut self, status: u16, description: &'static str, schema: Value) -> Self {
        self.successes.push(Success { status, description, content: Content::Described { schema } });
        self
    }

    /// Gives all errors the form of a tool's failure.
    pub const fn in_envelopes(mut self) -> Self {
        self.has_envelopes = true;
        self
    }

    /// Whether the handler reads a body that is not JSON.
    pub const fn has_other_body(&self) -> bool {
        !self.binary_bodies.is_empty() || self.form.is_some()
    }

    pub const fn has_envelopes(&self) -> bool {
        self.has_envelopes
    }

    /// A success without a body.
    pub fn returns_nothing(mut self, status: u16, description: &'static str) -> Self {
        self.successes.push(Success { status, description, content: Content::Nothing });
        self
    }

    /// A success with a body that is not JSON.
    pub fn returns_bytes(
        mut self,
        status: u16,
        description: &'static str,
        media_types: &'static [&'static str],
    ) -> Self {
        self.successes.push(Success { status, description, content: Content::Bytes { media_types } });
        self
    }

    /// An error status with its codes. The document adds the errors that all operations of its kind share.
    pub fn errors(mut self, status: u16, codes: &'static [&'static str]) -> Self {
        self.errors.push((status, codes));
        self
    }

    /// Statuses whose body can be an error of JSON-RPC instead of an error of this API.
    pub fn json_rpc_errors(mut self, statuses: &'static [u16]) -> Self {
        self.other_errors.push((OtherError::JsonRpc, statuses));
        self
    }

    /// Statuses whose body can have this schema instead of that of an error of this API.
    pub fn errors_of_schema(mut self, schema: &'static str, statuses: &'static [u16]) -> Self {
        self.other_errors.push((OtherError::Schema(schema), statuses));
        self
    }

    /// Statuses whose body can be a page instead of an error of this API.
    pub fn pages(mut self, statuses: &'static [u16]) -> Self {
        self.other_errors.push((OtherError::Page, statuses));
        self
    }

    /// Statuses whose body has another form for git and for Git LFS.
    pub fn words_of_git(mut self, statuses: &'static [u16]) -> Self {
        self.other_errors.push((OtherError::Git, statuses));
        self
    }

    /// A body that is a form.
    pub fn form(mut self, schema: fn() -> Value) -> Self {
        self.form = Some(schema);
        self
    }

    /// The errors of building and running the tip of a branch.
    pub fn builds_and_runs_a_branch(mut self) -> Self {
        self.errors.extend(BRANCH_ERRORS);
        self
    }

    /// A parameter that the handler reads and that none of its types describes.
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// A body that is not JSON.
    pub const fn binary_body(mut self, media_types: &'static [&'static str]) -> Self {
        self.binary_bodies = media_types;
        self
    }

    /// A link: the value at `pointer` in the response is the `parameter` of another operation.
    pub fn links_to(mut self, operation: &'static str, parameter: &'static str, pointer: &'static str) -> Self {
        self.links.push(Link { operation, parameter, pointer });
        self
    }
}
