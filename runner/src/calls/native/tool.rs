//! A native tool that was checked, and a call of it.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use registry::{Permission, Principal, RunId};
use serde_json::{Map, Value};

use super::effect::ToolEffect;
use super::reach::Reach;
use crate::calls::caller::ToolCaller;
use crate::calls::schema::InputSchema;
use crate::sandbox::outcome::Outcome;

/// The function that a native tool runs, on what was made of a call.
pub type Handler<C> = fn(C) -> BoxFuture<'static, Outcome>;

/// A handler with what makes its argument.
pub(super) type BoundHandler = Box<dyn Fn(NativeCall) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// A call of a native tool. The arguments match its input schema.
#[derive(Debug)]
pub struct NativeCall {
    pub run: RunId,
    pub caller: ToolCaller,
    /// The URL of the server, before the paths of links to it.
    pub base_url: Arc<str>,
    pub arguments: Map<String, Value>,
}

/// The schemas of a native tool as clients read them.
#[derive(Debug)]
pub struct ShownSchemas {
    pub input: Value,
    pub output: Option<Value>,
}

/// A native tool that is complete.
pub struct NativeTool {
    /// The name for callers, with the family as its prefix: `lathe__whoami`.
    pub name: String,
    pub family: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub effect: ToolEffect,
    pub reach: Reach,
    /// Whether the result is an object that tells success from failure, also for a failure.
    pub has_envelope: bool,
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

impl NativeTool {
    /// Whether the user may call the tool.
    #[must_use]
    pub fn may_be_called_by(&self, principal: &Principal) -> bool {
        principal.may(self.permission)
    }

    pub(crate) fn call(&self, call: NativeCall) -> BoxFuture<'static, Outcome> {
        (self.handler)(call)
    }
}
