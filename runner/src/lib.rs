//! Runs a component under limits.
//!
//! [`Invoker::invoke`] is the one function that every run of every tool
//! passes. Below it, [`Sandbox`] runs one input at a time and knows no store:
//! it takes an [`Execution`] and gives an [`Executed`], both plain data.

mod admission;
mod bindings;
mod cache;
mod call;
mod compile;
mod config;
mod engine;
mod error;
mod execution;
mod guest;
mod host;
mod interpreter;
mod invoke;
mod limits;
mod outcome;
mod sandbox;
mod schema;
mod shape;
mod ticker;

pub use call::{INPUTS_MAX,
    Call, Candidate, Conversation, EventSender, Input, InvocationMode, ResultPersistence,
    RunResult, StatusEvent, Subject, OUTPUT_CHARACTERS_MAX, PERSISTED_CHARACTERS_MAX,
};
pub use cache::Compiled;
pub use compile::{child_compile_main, precompile, Compiler};
pub use config::Config;
pub use error::{Error, ErrorKind, Misfit};
pub use execution::{Code, Execution};
pub use interpreter::{Bundle, CompileFailure, Interpreter, Project, SourceFile};
pub use invoke::Invoker;
pub use limits::Limits;
pub use outcome::{Executed, Outcome};
pub use host::StatusDocument;
pub use sandbox::{EventSink, Sandbox};
pub use schema::InputSchema;
