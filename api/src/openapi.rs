//! The API's description of itself: an OpenAPI 3.1 document, made from the route table.
//!
//! - What an operation reads comes from the parameters of its handler: each type that a handler takes says what it
//!   reads ([`Reads`]), and a body or a query brings its schema along with its reader.
//! - What it answers comes from the structs that are serialised.
//! - Its words, and the codes with which it refuses, stand beside the handler, in `operation()`.
//!
//! A route without a description stops the start-up, as one without a permission does.

mod document;
pub(crate) mod form;
mod inputs;
mod operation;
mod parameter;
mod problems;
mod refusals;
mod responses;

pub use document::openapi_document;
pub(crate) use inputs::{Inputs, Reads, RequestBody, Signature};
pub(crate) use operation::{Operation, Tag};
pub(crate) use parameter::Parameter;
pub(crate) use problems::problem;
pub(crate) use refusals::{OF_BUILDS, STORE_CODES};
