//! Matches on a thread with a large stack, in processes without schema workers: tests and benchmarks.

use registry::WorkPermit;
use tokio::sync::oneshot;

use super::compiled::CompiledSchema;
use super::wire::{Call, MatchResponse, read_inputs};
use super::workers::WorkResult;
use crate::error::Error;

/// Stack for an input of 128 levels and a schema of 100 levels for each of them.
pub const STACK_BYTES: usize = 64 << 20;

/// Matches without a deadline.
///
/// # Errors
/// When the system cannot start a thread.
pub async fn run(call: Call, permit: WorkPermit) -> Result<WorkResult, Error> {
    let (sender, response) = oneshot::channel();
    let work = move || {
        drop(sender.send(respond(&call))); // the caller may have been dropped
        drop(permit);
    };
    let builder = std::thread::Builder::new().name("schema".into()).stack_size(STACK_BYTES);
    builder.spawn(work).map_err(|error| Error::internal(error.to_string()))?;
    response.await.map(WorkResult::Responded).map_err(|_| Error::internal("a schema could not be matched"))
}

/// Compiles the schema of a call, and matches its inputs against it.
fn respond(call: &Call) -> MatchResponse {
    let read = call.schema.read_value().and_then(|schema| Ok((schema, read_inputs(&call.inputs)?)));
    let compiled = read.map_err(|error| error.to_string());
    match compiled.and_then(|(schema, inputs)| Ok((CompiledSchema::new(&schema)?, inputs))) {
        Ok((schema, inputs)) => schema.find_violations(&inputs).into(),
        Err(problem) => MatchResponse::Refused(problem),
    }
}
