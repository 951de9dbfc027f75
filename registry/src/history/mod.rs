//! The record of runs: starts and ends with their ledgers, tapes and recorded answers, filters and searches, and legal holds.

mod agent_call;
mod answer;
mod call_via;
mod content;
mod effect;
mod filter;
mod hold;
mod invocation_mode;
mod invocation_source;
mod invoke_step;
mod ledger;
mod record;
mod result_persistence;
mod tape;

pub use agent_call::{AgentCall, AgentProtocol, ClientName};
pub(crate) use answer::SealedAnswer;
pub use answer::{NewAnswers, RecordedAnswer};
pub use call_via::{CallDecider, CallVia};
pub use content::{
    CONTENT_BLOCKS_MAX, CONTENT_BYTES_MAX, ContentBlock, ContentCollector, ContentRefused, EmbeddedResource,
    ResourceContents,
};
pub use effect::{Effect, EffectKind};
pub(crate) use filter::SearchTerm;
pub use filter::{
    RunFilter, RunSort, RunStates, SEARCH_CHARACTERS_MAX, SearchField, SearchQuery, SearchText, ToolSelection,
};
pub use hold::{HeldRuns, Hold, HoldReason, HoldRelease};
pub use invocation_mode::InvocationMode;
pub use invocation_source::{InvocationMetadata, InvocationSource, InvocationSourceKind, Origin, SourceType};
pub use invoke_step::InvokeStep;
pub use ledger::{CallUse, Cost, Denied, Granted, HttpUse, Ledger, TreeUse, Used};
pub use record::{
    FinishedRun, ORPHANED, Outcome, REDACTED, Record, RecordEvent, RecordedInput, RefusedRun, Rollback, RunEnd,
    RunStart,
};
pub use result_persistence::ResultPersistence;
pub(crate) use tape::{BodyPlace, SealedBody, SealedTape};
pub use tape::{KeptTape, NewTape, TapeBody, UnsealedTape};
