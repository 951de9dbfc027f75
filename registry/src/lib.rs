//! The domain and its storage: tools with their versions and variables, builds, the history of runs, users with their
//! roles and keys, and the components that run.
//!
//! The domain types are in one file per concept and know neither SQL nor HTTP. [`Store`] stores rows, [`Artifacts`] stores
//! bytes by digest, [`Objects`] is a bucket, [`KeyRing`] seals variables, and [`DataDir`] is the layout of the data directory.

#![forbid(unsafe_code)]

mod account;
mod agent;
mod agent_call;
mod agent_run;
mod agent_state;
mod annotations;
mod answer;
mod api_key;
mod artifacts;
mod assignment;
mod attestation;
mod blocking;
mod build;
mod built_in_tools;
mod byte_cache;
mod callable;
mod clock;
mod condition;
mod config;
mod constraint;
mod constraint_notation;
mod content;
mod conversation;
mod credentials;
mod data_dir;
mod digest;
mod download;
mod durable;
mod effect;
mod embeddings;
mod error;
mod grant;
mod heavy_work;
mod history;
mod hold;
mod host_pattern;
mod human_intervention;
mod human_request;
mod ids;
mod intervention;
mod invalid_value;
mod invocation_mode;
mod invocation_source;
mod invoke_step;
mod language;
mod lease;
mod ledger;
mod library;
mod mcp_settings;
mod memory_search;
mod metrics;
mod missing_variable;
mod named_values;
mod names;
mod near_words;
mod node;
mod oauth;
mod objects;
mod operation;
mod organization;
mod page;
mod pattern;
mod permission;
mod presenting;
mod principal;
mod private;
mod random;
mod raw_json;
mod record;
mod recordings;
mod repository_contents;
mod role;
mod schema_text;
mod secrets;
mod shared_repositories;
mod source_names;
mod storage_url;
mod store;
mod strict_json;
mod suggestion;
mod tags;
mod tape;
mod text_type;
mod tool;
mod tool_api;
mod tool_version;
mod tool_world;
mod trust;
mod turn;
mod uri_parts;
mod user;
mod user_variable;
mod variables;
mod version;
mod visible_text;
mod words;

pub use account::{AccountId, OrganizationId, UserId};
pub use agent::{
    Agent, AgentChanges, AgentDraft, AgentFilter, AgentName, AgentReference, AgentRevision, AgentScope, AgentSlug,
    AgentSort, AgentType, Deployment, NewAgent, RevisionNumber, RunningAgent, SystemPrompt, ToolExposure,
};
pub use agent_call::{AgentCall, AgentProtocol, ClientName};
pub use agent_run::{
    AgentRun, AgentRunCapacity, AgentRunFilter, AgentRunKind, AgentRunState, AgentRunStep, Checkpoint, ListedAgentRun,
    NewAgentRun, NewStep, RunObjective, StartedAgentRun, StepFilter,
};
pub use agent_state::{AgentState, SpecList, StateName, StateTools, StateType, ToolCallSpecs};
pub use annotations::{Annotations, TaskSupport, ToolTitle};
pub use answer::{NewAnswers, RecordedAnswer};
pub use api_key::{ApiKey, ApiKeyId, ApiKeyName, NewApiKey};
pub use artifacts::{Artifacts, BucketOptions, RecordedBodies, StoredBody, UnusedArtifact};
pub use assignment::{
    Assignment, AssignmentProblem, AudioFiller, AudioFillers, FillerDelay, Instruction, ResultPersistence,
};
pub use attestation::{Attestation, SigningKeyInUse};
pub use build::{Build, BuildReference, BuildState, FailedBuild, OldBuilds};
pub use built_in_tools::{BuiltInTools, FamilyName};
pub use byte_cache::{ByteCache, CacheBound, HeapBytes, ReadStart, allocated};
pub use callable::Callable;
pub use clock::{Clock, Timestamp};
pub use condition::Condition;
pub use config::Config;
pub use constraint::Constraint;
pub use constraint_notation::to_pep440;
pub use content::{
    CONTENT_BLOCKS_MAX, CONTENT_BYTES_MAX, ContentBlock, ContentCollector, ContentRefused, EmbeddedResource,
    ResourceContents,
};
pub use conversation::{Conversation, NewConversation, Simulation};
pub use credentials::{IssuedKey, KeyEnd, NewOrganization, SignIn, SignInRefused, SignedIn};
pub use data_dir::{DataDir, DataDirLock};
pub use digest::Digest;
pub use download::DownloadToken;
pub use effect::{Effect, EffectKind};
pub use embeddings::{EmbedFailure, Embedder, HttpEmbedder, HttpEmbedderOptions, StaticEmbedder, Vector};
pub use error::{Error, ErrorKind, Result};
pub use grant::{CONDITIONS_MAX, GRANTS_MAX, Grant, Grants};
pub use heavy_work::do_heavy_work;
pub use history::{
    InvocationFilter, InvocationSort, RunStates, SEARCH_CHARACTERS_MAX, SearchField, SearchQuery, SearchText,
    ToolSelection,
};
pub use hold::{HeldRuns, Hold, HoldReason, HoldRelease};
pub use host_pattern::HostPattern;
pub use human_intervention::HumanIntervention;
pub use human_request::{
    HumanRequest, HumanRequestFilter, HumanRequestKind, HumanRequestState, NewHumanRequest, NewHumanResponse, Urgency,
};
pub use ids::{
    AgentId, AgentRunId, BuildId, ConversationId, HoldId, HumanRequestId, InteractionId, InvocationId, LibraryItemId,
    OperationId, ToolId, TurnId, VersionId,
};
pub use intervention::{Intervention, InterventionRule};
pub use invalid_value::InvalidValue;
pub use invocation_mode::InvocationMode;
pub use invocation_source::{InvocationMetadata, InvocationSource, InvocationSourceKind, Origin, SourceType};
pub use invoke_step::InvokeStep;
pub use language::Language;
pub use lease::{Busy, Lease};
pub use ledger::{CallUse, Cost, Denied, Granted, HttpUse, Ledger, TreeUse, Used};
pub use library::{
    CallerName, CallerNames, LibraryContent, LibraryFamily, LibraryFilter, LibraryItem, LibraryRange, LibraryScope,
    MemoryResult, MemoryResults, Provenance,
};
pub use mcp_settings::{McpSettings, ResourceUri};
pub use memory_search::MatchedBy;
pub use metrics::describe_metrics;
pub use missing_variable::MissingVariable;
pub use names::{Description, EnvvarName, NativeToolName, ToolName};
pub use near_words::{CORRECTED_WORDS_MAX, Correction, NearBy, find_near_words};
pub use node::{Node, NodeDescription};
pub use oauth::{
    ACCESS_LIFETIME, AuthorizationTerms, IssuedAccess, PkceChallenge, Refresh, RegisteredClient, is_access_token,
    is_registered_client_id,
};
pub use objects::{ObjectEntry, Objects};
pub use operation::{
    BegunOperation, IdempotencyKey, NewOperation, Once, OperationEnd, OperationKind, OperationState, QueuedPublication,
    Refused, TrackedOperation,
};
pub use organization::Organization;
pub use page::{Direction, Page, Slice};
pub use permission::Permission;
pub use presenting::StateProblem;
pub use principal::{Principal, SignInKey};
pub use raw_json::RawJson;
pub use record::{
    FinishedRun, ORPHANED, Outcome, REDACTED, Record, RecordEvent, RecordedInput, RefusedRun, Rollback, RunEnd,
    RunStart,
};
pub use recordings::Recordings;
pub use repository_contents::{
    DamagedPack, ReplacedPack, RepositoryContents, RepositoryGeneration, RepositoryLease, StoredPack,
};
pub use role::{Role, RoleName};
pub use schema_text::SchemaText;
pub use secrets::{DataKey, KeyRing, PublicKey, SealedFor, SigningKey, VariableOwner};
pub use shared_repositories::{NamedPack, PackFile, SharedRepositories};
pub use source_names::{BranchName, ProjectPath};
pub use storage_url::{Provider, StorageUrl};
pub use store::{
    Advance, AdvancedItem, CACHES, ComparedTable, CountedRequest, DatabaseLocation, DatabaseState, DueRun, EndedRun,
    Library, Report, RequestedCancellation, SchemaState, SeenChanges, Store, StoreOptions, TableCount, Transfer,
    TransferObserver, TransferProgress, TransferStep, inspect_database,
};
pub use strict_json::{check_json, parse_json, read_json};
pub use suggestion::{closest, did_you_mean, suggest_in};
pub use tags::Tags;
pub use tape::{KeptTape, NewTape, TapeBody, UnsealedTape};
pub use tool::{NewTool, TagFilter, TagValue, Tool, ToolChanges, ToolFilter, ToolRef, ToolSort};
pub use tool_api::{ApiName, SystemRole, ToolApi};
pub use tool_version::{
    Creator, NewVersion, Publication, RunBounds, ToolVersion, VersionFilter, VersionSettings, VersionSort,
};
pub use tool_world::ToolWorld;
pub use trust::Trust;
pub use turn::{NewTurn, PresentedTool, RunStatus, RunStatusEnd, Turn, TurnPlace, TurnState};
pub use user::{NewUser, User};
pub use user_variable::{NewUserVariable, ShownUserVariable, UserVariableName, UserVariables};
pub use variables::{EnvvarChanges, EnvvarInsert, EnvvarUpdate, SecretValue, Variables};
pub use version::{BumpKind, Version};
pub use visible_text::{is_hidden, json_line, visible, visible_document, visible_json, visible_lines};
