//! `forward_call`: the agent wants a call to be handed over. The application carries that out; the record keeps the wish.

use futures_util::future::BoxFuture;
use registry::{Permission, suggest_in};
use runner::{Outcome, Reach, ToolEffect, failed, schema_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::platform_call::{PlatformCall, PlatformToolSpec};

pub(super) const TOOL: PlatformToolSpec = PlatformToolSpec {
    title: Some("Forward the call"),
    description: Some(
        "Asks the application to hand the call over to a person or to another number. Use it when the user wants that, or when \
        you cannot help. Say goodbye first: the application carries it out when you have finished speaking.",
    ),
    permission: Some(Permission::OwnAccount),
    effect: Some(ToolEffect::Adds),
    reach: Reach::Unlisted,
    input_schema: Some(schema_of::<Wish>),
    output_schema: Some(schema_of::<Forwarded>),
    handler: Some(handle),
    ..PlatformToolSpec::new("", "forward_call")
};

/// A wish to hand the call over.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Wish {
    /// The person, the team or the number that should get the call, as the application knows them.
    #[schemars(length(min = 1, max = 256))]
    destination: String,
    /// The reason, for whoever gets the call.
    #[schemars(length(min = 1, max = 2000))]
    reason: String,
}

/// The wish as the application receives it.
#[derive(Serialize, JsonSchema)]
struct Forwarded {
    /// Always `forward_requested`.
    status: &'static str,
    destination: String,
    reason: String,
    /// The turn in which the agent wanted it.
    turn_id: String,
}

fn handle(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let wish: Wish = match serde_json::from_value(Value::Object(call.arguments)) {
            Ok(wish) => wish,
            Err(error) => return failed("input_schema", suggest_in(error.to_string())),
        };
        let Some(turn) = call.agent_call.and_then(|call| call.turn) else {
            return failed("turn_missing", "the tool can be called in a turn of a conversation only");
        };
        let Wish { destination, reason } = wish;
        let forwarded = Forwarded { status: "forward_requested", destination, reason, turn_id: turn.into() };
        match serde_json::to_string(&forwarded) {
            Ok(output) => Outcome::Succeeded { output },
            Err(error) => failed("internal", error.to_string()),
        }
    })
}
