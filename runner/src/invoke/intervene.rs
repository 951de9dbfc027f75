//! Step 7 of a call: a person confirms it, when the version asks for that.

use registry::Intervention;

use super::target::Target;
use crate::call::Call;
use crate::error::Error;

/// Refuses a call that a person should confirm, since no client can ask its user yet. `required` counts for calls of agents; a
/// caller without an agent is a person, or a program whose author has decided. `always` counts for every call.
pub(super) fn intervene(target: &Target, call: &Call) -> Result<(), Error> {
    let is_needed = match target.intervention() {
        Intervention::Never => false,
        Intervention::Required => call.agent_call.is_some(),
        Intervention::Always => true,
    };
    if is_needed { Err(Error::ConfirmationMissing { tool_name: target.name().to_owned() }) } else { Ok(()) }
}
