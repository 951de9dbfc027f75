//! The tools that a turn presents: those of one state of the agent, or all assignments of an agent without states.

use registry::RevisionNumber;

use super::agent::AgentRevision;
use super::assignment::Assignment;
use super::state::{AgentState, SpecList, StateName, StateTools, StateType, ToolCallSpecs};

/// The state of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnState {
    pub name: StateName,
    pub state_type: StateType,
    /// The presented list of an action state.
    pub list: Option<SpecList>,
}

/// The reason why a turn cannot begin in a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateProblem {
    #[error("the agent was never deployed; deploy it first")]
    NotDeployed,
    #[error("revision {revision} has no state `{name}`; it has {}", join_names(.states))]
    Unknown { name: StateName, revision: RevisionNumber, states: Vec<StateName> },
    #[error("revision {revision} has states; name one of {}", join_names(.states))]
    Missing { revision: RevisionNumber, states: Vec<StateName> },
    #[error("the state `{name}` is not an action state, so it has no list `exit-condition`")]
    OneList { name: StateName },
}

fn join_names(states: &[StateName]) -> String {
    match states {
        [] => "no states".to_owned(),
        some => some.iter().map(StateName::as_str).collect::<Vec<_>>().join(", "),
    }
}

impl AgentRevision {
    /// Returns the state of a turn, and the specifications of the tools that it presents.
    pub fn presented(
        &self,
        name: Option<&StateName>,
        list: SpecList,
    ) -> Result<(Option<TurnState>, Vec<&Assignment>), StateProblem> {
        let states = &self.content.states;
        let revision = self.deployment.number;
        let names = || states.iter().map(|state| state.name.clone()).collect();
        let Some(name) = name else {
            return match states.is_empty() {
                true => Ok((None, self.content.assignments.iter().collect())),
                false => Err(StateProblem::Missing { revision, states: names() }),
            };
        };
        let found = states.iter().find(|state| state.name == *name);
        let found = found.ok_or_else(|| StateProblem::Unknown { name: name.clone(), revision, states: names() })?;
        let (list, specs) = select_list(found, list)?;
        Ok((Some(TurnState { name: name.clone(), state_type: found.tools.state_type(), list }), specs))
    }
}

/// Returns the specifications of a state, for an action state those of one list.
fn select_list(state: &AgentState, list: SpecList) -> Result<(Option<SpecList>, Vec<&Assignment>), StateProblem> {
    match (&state.tools, list) {
        (StateTools::Action { action_tool_call_specs, .. }, SpecList::Action) => {
            Ok((Some(list), list_specs(action_tool_call_specs)))
        }
        (StateTools::Action { exit_condition_tool_call_specs, .. }, SpecList::ExitCondition) => {
            Ok((Some(list), list_specs(exit_condition_tool_call_specs)))
        }
        (_, SpecList::ExitCondition) => Err(StateProblem::OneList { name: state.name.clone() }),
        (_, SpecList::Action) => Ok((None, state.specs().collect())),
    }
}

fn list_specs(specs: &ToolCallSpecs) -> Vec<&Assignment> {
    specs.iter().collect()
}
