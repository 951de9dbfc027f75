//! The wire types. The server writes responses and reads requests; clients do the reverse.
//!
//! Clients ignore unknown fields. Values that a later release may extend, such as permissions and states, are texts.

mod agent;
mod agent_call;
mod agent_run;
mod agent_state;
mod api_key;
mod assignment;
mod build;
mod conversation;
mod event;
mod hold;
mod human_request;
mod identity;
mod oauth;
mod operation;
mod pages;
mod replay;
mod request;
mod role;
mod run;
mod secret_text;
mod signing_key;
mod source;
mod tool;
mod turn;
mod verification;
mod version;

pub use agent::{Agent, AgentDetail, AgentDraft, AgentRevision, CreatedAgent, Deployment};
pub use agent_call::AgentCall;
pub use agent_run::{AgentRun, AgentRunList, AgentRunQuestion, AgentRunStep, AgentRunTrace, ListedAgentRun};
pub use agent_state::{AgentState, AgentStateList};
pub use agents::{HumanForm, HumanResponse, RunFailure};
pub use api_key::{ApiKey, CreatedApiKey};
pub use assignment::{Assignment, AssignmentList};
pub use build::{Build, BuildOutcome};
pub use builder::ReplayGate;
pub use conversation::Conversation;
pub use event::{BuildLog, BuildStep, BuildStepState, StatusEvent};
pub use hold::Hold;
pub use human_request::{HumanRequest, HumanRequestCall, HumanRequestList};
pub use identity::{Me, Token, User, UserVariable, UserVariableList};
pub use oauth::{OauthClient, OauthTokens};
pub use operation::Operation;
pub use pages::{
    AgentList, AgentRevisionList, AgentTools, ApiKeyList, ConversationList, HoldList, InvocationList, ListPage,
    ToolFilterValues, ToolList, ToolVersionList, UserList, VersionFilterValues,
};
pub use replay::{ReplayCosts, ReplayDifference, Replayed};
pub use request::{BUMPS, Bump, MODES, PublishToolVersion, ReplayToolInvocation, TestTool, name_search_field};
pub use role::{Condition, Grant, Role, RoleList};
pub use run::{AccountedToolInvocation, InvocationResult, InvocationResults, RunOutcome, TestedBranch, ToolInvocation};
pub use runner::Input;
pub use secret_text::SecretText;
pub use signing_key::{SigningKey, SigningKeys};
pub use source::InvocationSource;
pub use tool::{CreatedTool, Tool, ToolTag, ToolUser};
pub use turn::{PresentedTool, SystemTool, Turn};
pub use verification::{Verification, VersionDifference};
pub use version::{PublishedVersion, ToolVersion, VersionApi, VersionUser};

pub(crate) use agent::{agent_example, deployment_example};
pub(crate) use agent_run::{agent_run_example, agent_run_step_example, listed_agent_run_example};
pub(crate) use agent_state::state_example;
pub(crate) use assignment::assignment_example;
pub(crate) use conversation::conversation_example;
pub(crate) use hold::hold_example;
pub(crate) use human_request::human_request_example;
pub(crate) use operation::operation_example;
pub(crate) use replay::replay_example;
pub(crate) use request::SEARCH_FIELDS;
pub(crate) use role::{grants_example, role_example};
pub(crate) use run::{results_example, run_example};
pub(crate) use turn::turn_example;
pub(crate) use version::version_example;
