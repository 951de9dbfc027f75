//! A native tool that was checked, and a call of it.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use registry::{AgentCall, Library, Permission, Principal};
use serde_json::{Map, Value};

use super::conversation_runs::ConversationRuns;
use super::effect::ToolEffect;
use super::reach::Reach;
use crate::client_schema::{shape_for_models, shape_output, write_portably};
use crate::outcome::Outcome;
use crate::schema::InputSchema;

/// The function that a native tool runs.
pub type Handler = fn(NativeCall) -> BoxFuture<'static, Outcome>;

/// A handler with what it was bound to.
pub(super) type BoundHandler = Box<dyn Fn(NativeCall) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// A call of a native tool. The arguments match its input schema.
#[derive(Debug)]
pub struct NativeCall {
    pub principal: Principal,
    pub agent_call: Option<AgentCall>,
    /// `None` outside of a turn.
    pub runs: Option<ConversationRuns>,
    pub library: Library,
    /// The URL of the server, before the paths of links to it.
    pub base_url: Arc<str>,
    pub arguments: Map<String, Value>,
}

/// The schemas of a native tool as clients and model APIs read them.
#[derive(Debug)]
pub struct ShownSchemas {
    pub input: Value,
    pub output: Option<Value>,
}

/// A native tool that is complete.
pub struct NativeTool {
    /// The name for models, with the family as its prefix: `lathe__whoami`.
    pub name: String,
    pub family: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub effect: ToolEffect,
    pub(crate) reach: Reach,
    pub input_schema: Value,
    pub output_schema: Value,
    pub shown: ShownSchemas,
    pub(crate) permission: Permission,
    pub(super) handler: BoundHandler,
    pub(crate) input: InputSchema,
    pub(crate) output: InputSchema,
}

impl fmt::Debug for NativeTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NativeTool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ShownSchemas {
    pub(super) fn of(mut input: Value, mut output: Value) -> Self {
        write_portably(&mut input);
        write_portably(&mut output);
        Self { input: shape_for_models(input), output: shape_output(output) }
    }
}

impl NativeTool {
    /// Returns the tool with another handler, which knows more than the arguments of a call.
    pub(crate) fn bound(
        self,
        handler: impl Fn(NativeCall) -> BoxFuture<'static, Outcome> + Send + Sync + 'static,
    ) -> Self {
        Self { handler: Box::new(handler), ..self }
    }

    /// Whether the result is an object that tells success from failure, also for a failure.
    #[must_use]
    pub const fn has_envelope(&self) -> bool {
        matches!(self.reach, Reach::Library(_))
    }

    /// Whether the user may call the tool.
    #[must_use]
    pub fn may_be_called_by(&self, principal: &Principal) -> bool {
        principal.may(self.permission)
    }

    pub(crate) fn call(&self, call: NativeCall) -> BoxFuture<'static, Outcome> {
        (self.handler)(call)
    }
}
