//! Runs WebAssembly components under limits.
//!
//! [`Invoker::invoke`] runs tools and records every run. [`TrialRunner`] runs code without a record. Both execute runs in a
//! [`RunnerPool`] of processes, or in a [`Sandbox`] on a thread of this process. These know no store: they take an
//! [`Execution`] and return an [`Executed`], both plain data.

mod bindings;
mod caches;
mod call;
mod caller;
mod child_end;
mod code_cache;
mod code_store;
mod compile;
mod component_memory;
mod config;
mod depth;
mod egress;
mod engine;
mod error;
mod executed;
mod execution;
mod executor;
mod fair_scheduler;
mod frames;
mod guest_runtime;
mod host;
mod input_bytes;
mod input_documents;
mod interaction;
mod interpreter;
mod intervention_rules;
mod invoke;
mod limits;
mod loaded_components;
mod memory_reuse;
mod metrics;
mod native;
mod nesting;
mod outcome;
mod output;
mod output_schemas;
mod ports;
mod process;
mod redact;
mod refused_arguments;
mod run_documents;
mod run_end;
mod schema;
mod snapshot;
mod stopped_calls;
mod structure;
mod tape;
mod tape_documents;
mod text;
mod ticker;
mod tool_call;
mod tool_mocks;
mod trial;
mod versions;
mod wiping;

pub use caches::CACHES;
pub use call::{
    Call, CallOrigin, Candidate, EventSender, INPUTS_MAX, Input, InvocationMode, LogEvent, ResultPersistence, RunEvent,
    RunResult, StatusEvent, Subject,
};
pub use caller::{Conversation, ToolCaller};
pub use child_end::{CPU_SECONDS_GRACE, ChildEnd};
pub use code_cache::CodeCache;
pub use code_store::{CodeStore, NativeCode};
pub use compile::{COMPONENT_BYTES_MAX, Compiler, Maker, child_check_main, child_compile_main, precompile};
pub use config::{Config, Runners, schema_worker};
pub use depth::{DEPTH_HEADER, Depth};
pub use egress::{CompiledMocks, DocumentRefused, Documents, EgressBudget, EgressConfig, MOCKS_MAX, Mock, Mocks};
pub use error::{DeprecatedVersion, Error, ErrorKind, SchemaViolation, TapeAbsence};
pub use executed::{Executed, Printed};
pub use execution::{Code, CodeBundle, Execution, RunDocuments};
pub use frames::{FrameError, FramedSocket};
pub use guest_runtime::Sandbox;
pub use interaction::{ANSWER_BYTES_MAX, Answer, Asked, ConfirmedCall, Interaction, Question, QuestionKind, is_result};
pub use interpreter::{Bundle, CompileFailure, Interpreter, Project, SourceFile};
pub use intervention_rules::check_intervention_rule;
pub use invoke::{
    CONFIRMATION, CallPolicy, CalledTool, DifferingRun, Extensions, Invoker, LastRuns, NATIVE_OUTPUT_CHARACTERS_MAX,
    Refusal, Replay, ReplayReport, ReplayResult, ReplayTarget, Storage, confirm, is_confirmed,
};
pub use limits::Limits;
pub use metrics::describe_metrics;
pub use native::{
    NativeCall, NativeTool, NativeToolRefused, NativeToolSpec, NativeTools, Reach, RoutedTool, ShownSchemas,
    ToolEffect, ToolRoute, Verb, find_excess, schema_of, unbounded_places,
};
pub use nesting::{LEVELS_MAX as NESTING_LEVELS_MAX, is_within as nests_within};
pub use outcome::{EMPTY_OUTPUT, Outcome, failed};
pub use ports::{
    EventDocument, EventSink, HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpSender, LogDocument, LogLevel,
    Ports, StatusDocument,
};
pub use process::{Attempt, ConfinementSelfTest, Layer, RunnerPool, child_run_main, confinement_self_test};
pub use redact::{Redactor, trim as trim_secret};
pub use refused_arguments::{invalid_fields, refusal_message};
pub use schema::{InputSchema, SchemaMatcher, bound_integers, child_schema_main};
pub use snapshot::{memory_of, with_memory};
pub use structure::{StructureError, check as check_structure};
pub use tape::{Body, Difference, DifferenceKind, Effect, End, Entry, Tape, TapeMode};
pub use text::{begin as begin_text, cut as cut_text};
pub use tool_mocks::{ToolMock, ToolMockError};
pub use trial::{Trial, TrialResult, TrialRunner};
pub use wiping::{WipingAllocator, wipe_freed_memory};
