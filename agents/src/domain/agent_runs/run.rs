//! Runs of agents: a model calls tools until it has the answer to an objective.

use registry::{AccountId, AgentId, AgentRunId, InvalidValue, Once, OrganizationId, Timestamp, named_values};

use super::human_request::NewHumanRequest;

/// The state of a run of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRunState {
    /// A server works on it, or takes it over.
    Running,
    /// The run waits for the answer of a person.
    Paused,
    Completed,
    Failed,
    Cancelled,
}

named_values! {
    /// The kind of a run.
    AgentRunKind = "kind", "must be agent or call" {
        /// A model calls tools until it has its answer.
        Agent = "agent",
        /// The run makes one call of a tool, and needs no model.
        Call = "call",
    }
}

/// A run of an agent on behalf of a user. Its user and administrators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRun {
    pub id: AgentRunId,
    pub organization: OrganizationId,
    pub agent: AgentId,
    pub account: AccountId,
    pub kind: AgentRunKind,
    pub state: AgentRunState,
    /// Answers of the model.
    pub iterations: u32,
    /// The checkpoint, as JSON.
    pub document: String,
    /// The number of changes. A change with an older one is refused.
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// `None` until the run is completed, failed or cancelled.
    pub ended_at: Option<Timestamp>,
}

/// The input for starting a run. The caller is its user.
#[derive(Clone, Debug)]
pub struct NewAgentRun {
    pub agent: AgentId,
    pub kind: AgentRunKind,
    pub objective: RunObjective,
    pub document: String,
    pub once: Option<Once>,
}

/// The beginning of what a run shall reach, on one line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunObjective(String);

impl RunObjective {
    const CHARACTERS_MAX: usize = 200;

    /// Cuts a text. NUL is left out, because some databases refuse it.
    pub fn of(text: &str) -> Self {
        Self(text.chars().filter(|letter| *letter != '\0').take(Self::CHARACTERS_MAX).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A run in a list, without its checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAgentRun {
    pub id: AgentRunId,
    pub agent: AgentId,
    pub account: AccountId,
    pub kind: AgentRunKind,
    pub state: AgentRunState,
    pub objective: String,
    pub iterations: u32,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// The runs that are asked for.
#[derive(Clone, Debug, Default)]
pub struct AgentRunFilter {
    pub state: Option<AgentRunState>,
    pub agent: Option<AgentId>,
    /// Only runs that started before this one.
    pub before: Option<AgentRunId>,
    pub limit: u32,
}

/// The result of starting a run.
#[derive(Clone, Debug)]
pub enum StartedAgentRun {
    New(AgentRun),
    /// The same request was sent before with the same key.
    Repeated(AgentRun),
    /// Another request was sent before with the same key.
    OtherRequest,
}

/// The runs that a server can take over.
#[derive(Clone, Debug)]
pub struct AgentRunCapacity {
    /// The runs on which it works.
    pub working: Vec<AgentRunId>,
    /// Organisations for which it works on enough runs.
    pub busy: Vec<OrganizationId>,
    /// Whether it has a model, without which it takes calls only.
    pub has_model: bool,
}

/// A new checkpoint of a run, with the steps since the one before.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    pub state: AgentRunState,
    pub iterations: u32,
    pub document: String,
    pub steps: Vec<NewStep>,
    /// The request of a run that pauses.
    pub request: Option<NewHumanRequest>,
}

/// A step that is added to a run.
#[derive(Clone, Debug)]
pub struct NewStep {
    /// The milestone that the step records.
    pub milestone: Option<String>,
    /// The call and its result, as JSON.
    pub document: String,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRunStep {
    /// From one.
    pub number: u64,
    pub document: String,
    pub at: Timestamp,
}

/// The steps of a run that are asked for. The default is all of them.
#[derive(Clone, Debug, Default)]
pub struct StepFilter {
    pub milestone: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl AgentRunState {
    pub const ALL: [Self; 5] = [Self::Running, Self::Paused, Self::Completed, Self::Failed, Self::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl std::str::FromStr for AgentRunState {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or(InvalidValue::new("state of a run", "must be running, paused, completed, failed or cancelled"))
    }
}
