//! Step 6 of a call, second part: rules of which the runner knows only that they forbid calls.

use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::target::{Target, TrustClass};
use crate::calls::call::Call;
use crate::calls::caller::ToolCaller;
use crate::error::Error;

/// The tool that a call runs, as rules name it.
#[derive(Debug)]
pub struct CalledTool<'a> {
    pub caller: &'a ToolCaller,
    pub tool: &'a str,
    /// The names of the APIs that are called, each with that of the tool before it.
    pub apis: Vec<String>,
}

/// Rules that forbid autonomous calls.
pub trait CallPolicy: Send + Sync {
    /// # Errors
    /// When a rule forbids the call, or the rules cannot be read.
    fn check<'a>(&'a self, called: CalledTool<'a>) -> BoxFuture<'a, Result<(), Error>>;
}

/// The API that an input names.
#[derive(Deserialize)]
struct NamedApi {
    api: String,
}

/// Refuses an autonomous call that a rule forbids. The server's own tools stay allowed.
///
/// # Errors
/// When a rule forbids the call, or the rules cannot be read.
pub(super) async fn obey(policy: Option<&dyn CallPolicy>, target: &Target, call: &Call) -> Result<(), Error> {
    let Some(policy) = policy else { return Ok(()) };
    if !call.caller.via.is_autonomous() || target.trust_class() == TrustClass::Platform {
        return Ok(());
    }
    policy.check(CalledTool { caller: &call.caller, tool: target.name(), apis: name_apis(target, call) }).await
}

fn name_apis(target: &Target, call: &Call) -> Vec<String> {
    let inputs = call.inputs.iter().filter(|_| target.has_apis());
    let apis = inputs.filter_map(|input| serde_json::from_str::<NamedApi>(input.input_parameters.as_str()).ok());
    apis.map(|named| format!("{}_{}", target.name(), named.api)).collect()
}
