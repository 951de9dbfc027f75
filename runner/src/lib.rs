//! Runs a component under limits.
//!
//! [`Invoker::invoke`] is the one function that every run of every tool
//! passes; [`Trials`] are runs of code that is no version, which leave no record. Below it, a [`Pool`] of processes, or [`Sandbox`] in this one, runs
//! one input at a time and knows no store: it takes an [`Execution`] and gives
//! an [`Executed`], both plain data.

mod admission;
mod bindings;
mod cache;
mod call;
mod codes;
mod compile;
mod config;
mod depth;
mod documents;
mod egress;
mod engine;
mod error;
mod execution;
mod executor;
mod guest;
mod host;
mod interpreter;
mod invoke;
mod limits;
mod mapped;
mod metrics;
mod outcome;
mod packed;
mod ports;
mod process;
mod redact;
mod sandbox;
mod schema;
mod shape;
mod slots;
mod snapshot;
mod split;
mod stopped;
mod structure;
mod tape;
mod taped;
mod ticker;
mod trial;
mod turns;
mod versions;

pub use admission::{Admission, Admitted, Bounds, Full, Place};
pub use cache::Compiled;
pub use call::{
    Call, Candidate, Conversation, EventSender, INPUTS_MAX, Input, InvocationMode, OUTPUT_CHARACTERS_MAX,
    PERSISTED_CHARACTERS_MAX, ResultPersistence, RunResult, StatusEvent, Subject,
};
pub use codes::{Codes, NativeCode};
pub use compile::{COMPONENT_BYTES_MAX, Compiler, Maker, child_check_main, child_compile_main, precompile};
pub use config::{Config, Runners};
pub use depth::{DEPTH_HEADER, Depth};
pub use egress::{
    Egress, EgressBudget, EgressConfig, Gate, HostSecret, MOCKS_MAX, Mock, Mocks, Pass, Secrets, Simulation, Standins,
};
pub(crate) use egress::{Heard, Recall};
pub use error::{Damage, Error, ErrorKind, Misfit};
pub use execution::{Code, Execution};
pub use host::StatusDocument;
pub use interpreter::{Bundle, CompileFailure, Interpreter, Project, SourceFile};
pub use invoke::{Against, Invoker, Rehearsal, Rehearsed, Replay, Replayed};
pub use limits::Limits;
pub use metrics::describe_metrics;
pub use outcome::{Executed, Outcome};
pub use ports::{EventSink, HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpResponse, HttpSender, Ports};
pub use process::{Attempt, Confinement, Drill, Layer, Pool, child_run_main, drill};
pub use sandbox::Sandbox;
pub use schema::InputSchema;
pub use snapshot::{memory_of, with_memory};
pub use structure::{Unsound, check as check_structure};
pub use tape::{
    Bodies, Body, Counts, Difference, Effect, End, Entry, Readings, Tape, Taped, TapedAnswer, TapedRequest,
    TapedResponse, Taping, What,
};
pub use trial::{Trial, Trials, Tried};
