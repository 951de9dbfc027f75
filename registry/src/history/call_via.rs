//! The way by which a call of a tool came from its user.

use serde::{Deserialize, Serialize};

use super::agent_call::AgentCall;
use super::invocation_source::Origin;
use crate::kit::ids::AgentId;
use crate::kit::revision_number::RevisionNumber;

/// The way by which a call of a tool came from its user. Code that makes calls needs only its methods, and knows no agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallVia {
    /// A person made the call, or a program whose author has decided about it.
    #[default]
    Direct,
    /// An agent decided about the call.
    Agent(AgentCall),
}

/// The decider of a call that is neither its user nor a program of a known author: an agent, in the revision that it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallDecider {
    pub agent: AgentId,
    pub revision: RevisionNumber,
}

impl CallVia {
    /// Whether neither a person nor the author of a program has decided about the call.
    pub const fn is_autonomous(&self) -> bool {
        matches!(self, Self::Agent(_))
    }

    /// Whether the call has a record when a step refuses it.
    pub const fn records_refusals(&self) -> bool {
        matches!(self, Self::Agent(_))
    }

    /// The agent through which the tool was called.
    pub const fn agent_call(&self) -> Option<&AgentCall> {
        match self {
            Self::Direct => None,
            Self::Agent(call) => Some(call),
        }
    }

    /// The agent that decided about the call.
    pub fn decider(&self) -> Option<CallDecider> {
        self.agent_call().map(|call| CallDecider { agent: call.agent.clone(), revision: call.revision })
    }

    /// The way of a call that a run of this call makes. The turn presented the calling tool; the log of its conversation has no
    /// other calls.
    #[must_use]
    pub fn for_nested_call(self) -> Self {
        match self {
            Self::Direct => Self::Direct,
            Self::Agent(call) => Self::Agent(AgentCall { turn: None, ..call }),
        }
    }

    /// The origin of the agent's protocol. `None` without an agent.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.agent_call().map(|call| call.protocol.origin())
    }
}

impl CallDecider {
    /// Says in which way the decider differs from an earlier one, in a part of a sentence for a person. `None` for the same one,
    /// and for another agent.
    pub fn describe_change_since(&self, earlier: &Self) -> Option<String> {
        let is_newer = self.agent == earlier.agent && self.revision != earlier.revision;
        is_newer.then(|| format!("revision {} of the agent is now {}", earlier.revision, self.revision))
    }
}

impl From<Option<AgentCall>> for CallVia {
    fn from(call: Option<AgentCall>) -> Self {
        call.map_or(Self::Direct, Self::Agent)
    }
}

#[cfg(test)]
mod tests {
    use super::super::agent_call::AgentProtocol;
    use super::*;
    use crate::kit::ids::TurnId;

    fn agent_call() -> AgentCall {
        AgentCall {
            agent: AgentId::parse("6ab13d50a3c20f6f6e5d4c3b").unwrap(),
            revision: RevisionNumber::FIRST,
            protocol: AgentProtocol::Rest,
            client: None,
            turn: TurnId::parse("6ab13d50a3c20f6f6e5d4c3c").ok(),
        }
    }

    #[test]
    fn calls_of_agents_are_autonomous_and_their_refusals_recorded() {
        for (via, expected) in [(CallVia::Direct, false), (CallVia::Agent(agent_call()), true)] {
            assert_eq!((via.is_autonomous(), via.records_refusals()), (expected, expected));
            assert_eq!(via.decider().is_some(), expected);
        }
    }

    #[test]
    fn a_nested_call_is_in_no_turn() {
        let nested = CallVia::Agent(agent_call()).for_nested_call();
        assert_eq!(nested, CallVia::Agent(AgentCall { turn: None, ..agent_call() }));
        assert_eq!(CallVia::Direct.for_nested_call(), CallVia::Direct);
    }

    #[test]
    fn a_person_reads_that_an_agent_has_another_revision() {
        let first = CallVia::Agent(agent_call()).decider().unwrap();
        let next = CallDecider { revision: RevisionNumber::FIRST.next().unwrap(), ..first.clone() };
        let told = "revision 1 of the agent is now 2";
        assert_eq!(next.describe_change_since(&first).as_deref(), Some(told));
        assert_eq!(first.describe_change_since(&first), None);
        let other = CallDecider { agent: AgentId::parse("6ab13d50a3c20f6f6e5d4c3d").unwrap(), ..next };
        assert_eq!(other.describe_change_since(&first), None);
    }
}
