//! Builds and runs outlive their requests: they continue in a task of their own when the client disconnects.
//!
//! The response is one JSON body. For `Accept: text/event-stream` it is the events of the work, then the same body. For
//! `Prefer: respond-async` it is 202 and the path of an operation that has the same body later. Work with an idempotency
//! key and asynchronous work are operations ([`tracked`]).

mod events;
mod final_response;
mod operation;
mod reply;
mod response_mode;
mod tracked;

pub(crate) use events::{Event, Events};
pub(crate) use final_response::FinalResponse;
pub(crate) use operation::{OperationReader, with_operation_responses};
pub(crate) use reply::{Reply, WorkContext};
pub(crate) use tracked::{OperationRequest, RunningOperation};

#[cfg(test)]
pub(crate) use events::stream_to_end;
