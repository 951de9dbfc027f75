//! Step 2 of a call: the user on whose behalf a tool runs needs the permission for it.

use registry::{Permission, Principal};

use super::target::Target;
use crate::error::Error;

/// Refuses a user without the permission for the tool.
pub(super) fn permit(principal: &Principal, target: &Target) -> Result<(), Error> {
    let (is_permitted, permission) = match target {
        Target::Native(tool) => (tool.may_be_called_by(principal), tool.permission),
        Target::Component(resolved) => match &resolved.callable {
            Some(callable) => (principal.may_for(Permission::InvokeTool, &callable.tool), Permission::InvokeTool),
            None => (principal.may(Permission::TestTool), Permission::TestTool),
        },
    };
    if is_permitted { Ok(()) } else { Err(Error::Forbidden { permission }) }
}
