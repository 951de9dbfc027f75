//! Step 3 of a call: its inputs match the input schema of the tool.

use super::target::Target;
use crate::call::{Call, INPUTS_MAX};
use crate::error::Error;
use crate::schema::SchemaMatcher;

/// Refuses a call without inputs or with too many, and inputs that violate the schema.
pub(super) async fn validate(schemas: &SchemaMatcher, target: &Target, call: &Call) -> Result<(), Error> {
    let inputs = &call.inputs;
    if inputs.is_empty() || inputs.len() > INPUTS_MAX {
        return Err(Error::InputCount { count: inputs.len() });
    }
    let inputs = inputs.iter().map(|input| input.input_parameters.clone()).collect();
    schemas.validate(&call.principal.organization, target.input_schema(), inputs).await
}
