//! Step 5 of a call: what a run may do to the outside world in its invocation mode.

use registry::InvocationMode;

use super::recorded_responses::ResponseStore;
use super::resolved::Resolved;
use super::run::Run;
use crate::sandbox::egress::{EgressRules, EgressSession, Simulation};

impl Run<'_> {
    /// Opens the egress of a run. In a simulation, mocks and recorded responses answer its requests.
    pub fn open_egress_session(&self, resolved: &Resolved, mode: InvocationMode) -> EgressSession {
        let Resolved { loaded, limits, egress_policy, responses_of, is_recorded, .. } = resolved;
        let simulation = match mode {
            InvocationMode::Regular => None,
            InvocationMode::ConversationSimulation => {
                let lookup = self.find_response_store().map(ResponseStore::into_lookup);
                Some(Simulation { mocks: loaded.mocks.clone(), lookup, is_sealed: false })
            }
        };
        self.services.egress.open_session(EgressRules {
            organization: self.call.caller.principal.organization.clone(),
            policy: egress_policy.clone(),
            limits: *limits,
            depth: self.call.depth,
            records_responses: simulation.is_none() && responses_of.is_some() && *is_recorded,
            simulation,
        })
    }
}
