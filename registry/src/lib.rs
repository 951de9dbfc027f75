//! The domain and its storage: tools with their versions and variables, builds, the history of runs, users with their
//! roles and keys, and the components that run.
//!
//! The domain types are in one folder per district, with one file per concept, and know neither SQL nor HTTP. [`Store`] stores
//! rows, [`Artifacts`] stores bytes by digest, [`Objects`] is a bucket, [`KeyRing`] seals variables, and [`DataDir`] is the
//! layout of the data directory.

#![forbid(unsafe_code)]

mod access;
mod artifacts;
mod config;
mod error;
mod files;
mod history;
mod kit;
mod nodes;
mod operations;
mod repositories;
mod secrets;
mod storage;
mod store;
mod text;
mod tools;
mod versions;

pub use access::{
    ACCESS_LIFETIME, ApiKey, ApiKeyId, ApiKeyName, AuthorizationTerms, CONDITIONS_MAX, CallerName, CallerNames,
    Condition, GRANTS_MAX, Grant, Grants, IssuedAccess, IssuedKey, KeyEnd, NewApiKey, NewOrganization, NewUser,
    NewUserVariable, Organization, Permission, PkceChallenge, Principal, Refresh, RegisteredClient, Role, RoleName,
    ShownUserVariable, SignIn, SignInKey, SignInRefused, SignedIn, User, UserVariableName, UserVariables,
    is_access_token, is_registered_client_id,
};
pub use artifacts::{
    Artifacts, BucketOptions, ObjectEntry, Objects, Provider, RecordedBodies, StorageUrl, StoredBody, UnusedArtifact,
};
pub use config::Config;
pub use error::{Error, ErrorKind, Result};
pub use files::blocking::off_the_runtime;
pub use files::data_dir::{DataDir, DataDirLock};
pub use history::{
    AgentCall, AgentProtocol, CONTENT_BLOCKS_MAX, CONTENT_BYTES_MAX, CallDecider, CallUse, CallVia, ClientName,
    ContentBlock, ContentCollector, ContentRefused, Cost, Denied, Effect, EffectKind, EmbeddedResource, FinishedRun,
    Granted, HeldRuns, Hold, HoldReason, HoldRelease, HttpUse, InvocationMetadata, InvocationMode, InvocationSource,
    InvocationSourceKind, InvokeStep, KeptTape, Ledger, NewAnswers, NewTape, ORPHANED, Origin, Outcome, REDACTED,
    Record, RecordEvent, RecordedAnswer, RecordedInput, RefusedRun, ResourceContents, ResultPersistence, Rollback,
    RunEnd, RunFilter, RunSort, RunStart, RunStates, SEARCH_CHARACTERS_MAX, SearchField, SearchQuery, SearchText,
    SourceType, TapeBody, ToolSelection, TreeUse, UnsealedTape, Used,
};
pub use kit::account::{AccountId, OrganizationId, UserId};
pub use kit::admission::{Admission, AdmissionBounds, Admitted, QueueFull, WorkPermit};
pub use kit::byte_cache::{ByteCache, CacheBound, HeapBytes, ReadStart, allocated};
pub use kit::clock::{Clock, Timestamp};
pub use kit::digest::Digest;
pub use kit::heavy_work::do_heavy_work;
pub use kit::ids::{
    AgentId, AgentRunId, BuildId, ConversationId, HoldId, HumanRequestId, InteractionId, LibraryItemId, OperationId,
    RunId, ToolId, TurnId, VersionId,
};
pub use kit::invalid_value::InvalidValue;
pub use kit::metrics::describe_metrics;
pub use kit::page::{Direction, Page, Slice};
pub use kit::public_key::PublicKey;
pub use kit::revision_number::RevisionNumber;
pub use kit::text_type::{Checked, made_of};
pub use nodes::{Node, NodeDescription};
pub use operations::{
    BegunOperation, IdempotencyKey, NewOperation, Once, OperationEnd, OperationKind, OperationState, QueuedPublication,
    Refused, TrackedOperation,
};
pub use repositories::{
    DamagedPack, ReplacedPack, RepositoryContents, RepositoryGeneration, RepositoryLease, StoredPack,
};
pub use secrets::{DataKey, KeyRing, SealedFor, SigningKey, VariableOwner};
pub use storage::{NamedPack, PackFile, Recordings, SharedRepositories};
pub use store::{
    Access, CACHES, ComparedTable, CountedRequest, DatabaseLocation, DatabaseState, History, Nodes, Operations,
    Repositories, RequestedCancellation, SchemaState, SeenChanges, Store, StoreOptions, TableCount, Tools, Transfer,
    TransferObserver, TransferProgress, TransferStep, Versions, inspect_database, statements,
};
pub use text::near_words::{CORRECTED_WORDS_MAX, Correction, NearBy, TAKEN_WEIGHT, find_near_words};
pub use text::raw_json::RawJson;
pub use text::strict_json::{check_json, parse_json, read_json};
pub use text::suggestion::{closest, did_you_mean, suggest_in};
pub use text::trust::Trust;
pub use text::visible_text::{is_hidden, json_line, visible, visible_document, visible_json, visible_lines};
pub use text::words::extract_words;
pub use tools::{
    Description, EnvvarChanges, EnvvarInsert, EnvvarName, EnvvarUpdate, MissingVariable, NativeToolName, NewTool,
    SecretValue, TagFilter, TagValue, Tags, Tool, ToolChanges, ToolFilter, ToolName, ToolRef, ToolSort, Variables,
};
pub use versions::{
    Annotations, ApiName, Attestation, BranchName, Build, BuildReference, BuildState, BumpKind, Busy, Callable,
    Constraint, Creator, FailedBuild, HostPattern, HumanIntervention, Intervention, InterventionRule, Language, Lease,
    McpSettings, NewVersion, OldBuilds, ProjectPath, Publication, ResourceUri, RunBounds, SchemaText, SigningKeyInUse,
    SystemRole, TaskSupport, ToolApi, ToolTitle, ToolVersion, ToolWorld, Version, VersionFilter, VersionSettings,
    VersionSort, to_pep440,
};
