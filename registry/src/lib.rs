//! What a tool is, and where it is remembered: tools, their versions and variables, builds, the history of runs,
//! the users who may touch them with their roles and keys, and the bytes that they run.
//!
//! The domain is in one file per concept and knows neither SQL nor HTTP. [`Store`] keeps rows, [`Artifacts`] keeps
//! bytes by digest, [`KeyRing`] seals variables, [`DataDir`] says where all of that lies.

mod account;
mod answer;
mod api_key;
mod artifacts;
mod attestation;
mod build;
mod callable;
mod clock;
mod condition;
mod config;
mod constraint;
mod credentials;
mod data_dir;
mod digest;
mod durable;
mod effect;
mod error;
mod grant;
mod history;
mod host_pattern;
mod ids;
mod invocation;
mod invocation_source;
mod ledger;
mod metrics;
mod names;
mod operation;
mod page;
mod pattern;
mod permission;
mod principal;
mod random;
mod raw_json;
mod role;
mod secrets;
mod source_names;
mod store;
mod tags;
mod tape;
mod text_type;
mod tool;
mod tool_version;
mod tool_world;
mod user;
mod variables;
mod version;

pub use account::{OrganizationId, UserId};
pub use answer::{HeardAnswer, NewAnswers};
pub use api_key::{ApiKey, ApiKeyId, ApiKeyName, NewApiKey};
pub use artifacts::Artifacts;
pub use attestation::{Attestation, SigningKeyInUse};
pub use build::{Build, BuildReference, BuildState, Busy, FailedBuild, Lease, Operation};
pub use callable::Callable;
pub use clock::{Clock, Timestamp};
pub use condition::Condition;
pub use config::Config;
pub use constraint::Constraint;
pub use credentials::{IssuedKey, IssuedToken, NewOrganization, SignIn, SignInRefused, SignedIn};
pub use data_dir::{DataDir, DataDirLock};
pub use digest::Digest;
pub use effect::{Effect, EffectKind};
pub use error::{Error, ErrorKind, InvalidValue, Result};
pub use grant::{CONDITIONS_MAX, GRANTS_MAX, Grant, Grants};
pub use history::{
    InvocationFilter, InvocationSort, SEARCH_CHARACTERS_MAX, SEARCH_RESULTS_MAX, SEARCH_TERMS_MAX, SearchField,
    SearchQuery, SearchText, ToolSelection,
};
pub use host_pattern::HostPattern;
pub use ids::{BootId, BuildId, InvocationId, OperationId, ToolId, VersionId};
pub use invocation::{
    Finished, Invocation, InvocationFinished, InvocationMode, InvocationOutcome, InvocationStarted, ORPHANED, REDACTED,
    RecordedInput,
};
pub use invocation_source::{InvocationMetadata, InvocationSource, InvocationSourceKind};
pub use ledger::{Cost, Denied, Granted, HttpUse, Ledger, Used};
pub use metrics::describe_metrics;
pub use names::{Description, EnvvarName, ToolName};
pub use operation::{
    BegunOperation, IdempotencyKey, NewOperation, Once, OperationEnd, OperationKind, OperationState, Refused,
    TrackedOperation,
};
pub use page::{Direction, Page, Slice};
pub use permission::{Permission, PermissionSet};
pub use principal::Principal;
pub use raw_json::RawJson;
pub use role::{Role, RoleName, RoleTimes};
pub use secrets::{AnswerTo, DataKey, KeyRing, PublicKey, SealedFor, SigningKey};
pub use source_names::{BranchName, ProjectPath};
pub use store::Store;
pub use tags::Tags;
pub use tape::{KeptTape, NewTape, SealedTape, TapeBody};
pub use tool::{NewTool, TagFilter, TagValue, Tool, ToolChanges, ToolFilter, ToolSort};
pub use tool_version::{
    Creator, Language, NewVersion, Publication, RunBounds, ToolVersion, VersionFilter, VersionSettings, VersionSort,
};
pub use tool_world::ToolWorld;
pub use user::{NewUser, User};
pub use variables::{EnvvarChanges, EnvvarInsert, EnvvarUpdate, SecretValue, Variables};
pub use version::{BumpKind, Version};
