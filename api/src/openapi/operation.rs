//! An operation in words: what stands beside a handler.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::Parameter;
use super::refusals::OF_A_BRANCH;

/// The parts of the reference that operations are sorted into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tag {
    SignIn,
    Tools,
    Versions,
    Runs,
    History,
    Source,
    Identity,
    Service,
}

/// What is told of one operation. What it reads is taken from its handler.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(super) id: &'static str,
    pub(super) tag: Tag,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) parameters: Vec<Parameter>,
    /// Media types of a body that is no JSON.
    pub(super) raw_bodies: &'static [&'static str],
    pub(super) answers: Vec<Answer>,
    pub(super) refusals: Vec<(u16, &'static [&'static str])>,
    pub(super) links: Vec<Link>,
}

/// A success.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) says: &'static str,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Nothing,
    Json { schema: fn(&mut SchemaGenerator) -> Schema, example: Value },
    Bytes { media_types: &'static [&'static str] },
}

/// Where a value of the answer can be used next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) operation: &'static str,
    pub(super) parameter: &'static str,
    pub(super) pointer: &'static str,
}

impl Operation {
    pub(crate) const fn id(&self) -> &'static str {
        self.id
    }

    /// `id` never changes, since clients are generated from it; the summary is a title without a full stop.
    pub(crate) const fn new(id: &'static str, tag: Tag, summary: &'static str) -> Self {
        Self {
            id,
            tag,
            summary,
            description: "",
            parameters: Vec::new(),
            raw_bodies: &[],
            answers: Vec::new(),
            refusals: Vec::new(),
            links: Vec::new(),
        }
    }

    /// The description, in Markdown.
    pub(crate) fn says(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// A success with a JSON body of type `T`. The example has to fit, which a test checks.
    pub(crate) fn answers<T: JsonSchema>(mut self, status: u16, says: &'static str, example: Value) -> Self {
        let schema = |generator: &mut SchemaGenerator| generator.subschema_for::<T>();
        self.answers.push(Answer { status, says, content: Content::Json { schema, example } });
        self
    }

    /// A success without a body.
    pub(crate) fn answers_nothing(mut self, status: u16, says: &'static str) -> Self {
        self.answers.push(Answer { status, says, content: Content::Nothing });
        self
    }

    /// A success with a body that is no JSON.
    pub(crate) fn answers_bytes(
        mut self,
        status: u16,
        says: &'static str,
        media_types: &'static [&'static str],
    ) -> Self {
        self.answers.push(Answer { status, says, content: Content::Bytes { media_types } });
        self
    }

    /// A refusal with its codes. Those that every operation of its kind has are added by themselves.
    pub(crate) fn refuses(mut self, status: u16, codes: &'static [&'static str]) -> Self {
        self.refusals.push((status, codes));
        self
    }

    /// Takes the tip of a branch, with all that this may be refused for.
    pub(crate) fn builds_and_runs_a_branch(mut self) -> Self {
        self.refusals.extend(OF_A_BRANCH);
        self
    }

    /// Something that the handler reads, and that none of its types tells.
    pub(crate) fn reads(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// A body that is no JSON.
    pub(crate) const fn reads_bytes(mut self, media_types: &'static [&'static str]) -> Self {
        self.raw_bodies = media_types;
        self
    }

    /// The value at `pointer` in the answer is the `parameter` of another operation.
    pub(crate) fn leads_to(mut self, operation: &'static str, parameter: &'static str, pointer: &'static str) -> Self {
        self.links.push(Link { operation, parameter, pointer });
        self
    }
}

impl Tag {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SignIn => "Sign-in",
            Self::Tools => "Tools",
            Self::Versions => "Versions",
            Self::Runs => "Runs",
            Self::History => "History",
            Self::Source => "Source",
            Self::Identity => "Users, roles and keys",
            Self::Service => "Service",
        }
    }

    pub(super) const fn says(self) -> &'static str {
        match self {
            Self::SignIn => "From an API key to a token.",
            Self::Tools => {
                "A tool is a name under which versions are published, with a description, tags and variables."
            }
            Self::Versions => "A version is the tip of a branch, built once and never changed afterwards.",
            Self::Runs => "Running a version, or the tip of a branch, on one to ten inputs.",
            Self::History => "Every run that ever began, with its outcome.",
            Self::Source => "The organisation's git repository, and the package that authors start from.",
            Self::Identity => "Who may do what in an organisation. One's own keys are everybody's own business.",
            Self::Service => "The service about itself.",
        }
    }
}
