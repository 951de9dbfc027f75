//! Step 3 of a call: its inputs match the input schema of the tool.

use registry::ApiName;

use super::target::Target;
use crate::calls::call::{Call, INPUTS_MAX};
use crate::calls::schema::SchemaMatcher;
use crate::error::{Error, SchemaViolation};

/// Refuses a call without inputs or with too many, and inputs that violate the schema.
pub(super) async fn validate(schemas: &SchemaMatcher, target: &Target, call: &Call) -> Result<(), Error> {
    let inputs = &call.inputs;
    if inputs.is_empty() || inputs.len() > INPUTS_MAX {
        return Err(Error::InputCount { count: inputs.len() });
    }
    let inputs = inputs.iter().map(|input| input.input_parameters.clone()).collect();
    let validated = schemas.validate(&call.caller.principal.organization, target.input_schema(), inputs).await;
    if call.subject.api().is_some() { validated.map_err(of_arguments) } else { validated }
}

/// Spells the integers of valid inputs as integers, before anything reads them.
pub(super) async fn spell_integers(target: &Target, call: &mut Call) -> Result<(), Error> {
    for input in &mut call.inputs {
        if let Some(spelled) = target.input_schema().spell_integers(&input.input_parameters).await? {
            input.input_parameters = spelled;
        }
    }
    Ok(())
}

/// Violations with their places in the arguments of the API, since the caller knows nothing else of the input.
fn of_arguments(error: Error) -> Error {
    let Error::InvalidInput { violations } = error else { return error };
    let prefix = format!("/{}", ApiName::ARGUMENTS_MEMBER);
    let place = |violation: SchemaViolation| SchemaViolation {
        pointer: violation.pointer.strip_prefix(&prefix).unwrap_or(&violation.pointer).to_owned(),
        ..violation
    };
    Error::InvalidInput { violations: violations.into_iter().map(place).collect() }
}
