//! Runs WebAssembly components under limits.
//!
//! [`Invoker::invoke`] runs tools and records every run. [`TrialRunner`] runs code without a record. Both execute runs in a
//! [`RunnerPool`] of processes, or in a [`Sandbox`] on a thread of this process.
//!
//! The crate has two halves. `sandbox` executes components: it takes an [`Execution`] and returns an [`Executed`], both plain data, and
//! knows neither calls nor the store. `calls` has what surrounds an execution, from the arguments of a call to its record. The modules
//! below are in layers: a module imports from its own layer and from lower ones.

// Settings, errors, limits and questions, which both halves use.
mod config;
mod depth;
mod error;
mod interaction;
mod limits;
mod metrics;
mod nesting;
mod text;

// Executes components.
mod sandbox;

// Calls of tools.
mod calls;

// The caches of both halves.
mod caches;

pub use caches::CACHES;
pub use calls::call::{
    Call, CallOrigin, Candidate, EventSender, INPUTS_MAX, Input, InvocationMode, LogEvent, ResultPersistence, RunEvent,
    RunResult, StatusEvent, Subject,
};
pub use calls::caller::{Conversation, ToolCaller};
pub use calls::intervention_rules::check_intervention_rule;
pub use calls::invoke::{
    CONFIRMATION, CallPolicy, CalledTool, DifferingRun, Extensions, Invoker, LastRuns, NATIVE_OUTPUT_CHARACTERS_MAX,
    Refusal, Replay, ReplayReport, ReplayResult, ReplayTarget, Storage, confirm, is_confirmed,
};
pub use calls::native::{
    NativeCall, NativeTool, NativeToolRefused, NativeToolSpec, NativeTools, Reach, RoutedTool, ShownSchemas,
    ToolEffect, ToolRoute, Verb, find_excess, schema_of, unbounded_places,
};
pub use calls::redact::Redactor;
pub use calls::refused_arguments::{invalid_fields, refusal_message};
pub use calls::schema::{InputSchema, SchemaMatcher, bound_integers, child_schema_main};
pub use calls::tool_mocks::{ToolMock, ToolMockError};
pub use calls::trial::{Trial, TrialResult, TrialRunner};
pub use config::{Config, EgressBudget, EgressConfig, Runners, schema_worker};
pub use depth::{DEPTH_HEADER, Depth};
pub use error::{DeprecatedVersion, Error, ErrorKind, SchemaViolation, TapeAbsence};
pub use interaction::{ANSWER_BYTES_MAX, Answer, Asked, ConfirmedCall, Interaction, Question, QuestionKind, is_result};
pub use limits::Limits;
pub use metrics::describe_metrics;
pub use nesting::{LEVELS_MAX as NESTING_LEVELS_MAX, is_within as nests_within};
pub use sandbox::child_end::{CPU_SECONDS_GRACE, ChildEnd};
pub use sandbox::code::structure::{StructureError, check as check_structure};
pub use sandbox::code::{CodeCache, CodeStore, NativeCode};
pub use sandbox::compile::{COMPONENT_BYTES_MAX, Compiler, Maker, child_check_main, child_compile_main, precompile};
pub use sandbox::egress::{CompiledMocks, DocumentRefused, Documents, MOCKS_MAX, Mock, Mocks};
pub use sandbox::executed::{Executed, Printed};
pub use sandbox::execution::{Code, CodeBundle, Execution, RunDocuments};
pub use sandbox::frames::{FrameError, FramedSocket};
pub use sandbox::guest_runtime::Sandbox;
pub use sandbox::interpreter::{Bundle, CompileFailure, Interpreter, Project, SourceFile, memory_of, with_memory};
pub use sandbox::outcome::{EMPTY_OUTPUT, Outcome, failed};
pub use sandbox::ports::{
    EventDocument, EventSink, HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpSender, LogDocument, LogLevel,
    Ports, StatusDocument,
};
pub use sandbox::process::{Attempt, ConfinementSelfTest, Layer, RunnerPool, child_run_main, confinement_self_test};
pub use sandbox::tape::{Body, Difference, DifferenceKind, Effect, End, Tape, TapeEntry, TapeMode};
pub use sandbox::wiping::{WipingAllocator, wipe_freed_memory};
pub use text::{begin as begin_text, cut as cut_text, trim as trim_secret};
