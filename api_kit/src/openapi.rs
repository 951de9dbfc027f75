//! The OpenAPI 3.1 document of the API, made from the route table.
//!
//! - The types that a handler takes describe the parameters and the body ([`DocumentedInput`]).
//! - The types that are serialised describe the responses.
//! - `operation()` beside the handler has the texts and the error codes ([`OperationDoc`]).
//!
//! A route without a description stops the start-up, as a route without a permission does.

mod check;
mod components;
mod document;
mod error_codes;
mod errors;
mod headers;
mod inputs;
mod operation_doc;
mod parameter;
mod responses;
mod route_doc;
pub mod schemas;
mod tool_errors;

pub use check::find_problem;
pub use document::build_document;
pub use error_codes::{BUILD_CODES, MISSING_SOURCE_CODES, STORE_CODES};
pub use inputs::{DocumentedInput, Inputs, RequestBody, Signature};
pub use operation_doc::{OperationDoc, Tag};
pub use parameter::Parameter;
pub use route_doc::RouteDoc;
