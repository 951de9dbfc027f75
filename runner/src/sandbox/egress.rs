//! Outbound HTTP of runs. Requests are admitted, sent and counted in the server, outside the sandbox.
//!
//! A request may go to a host that the version declares and the operator permits, at an address that was checked. It
//! counts against the limits of its run and of its organisation. Redirects are returned to the tool and never followed.

mod address;
mod blocked_ports;
mod budget;
mod byte_counts;
mod compiled_mocks;
mod connect;
mod counted_stream;
mod documents;
mod exchange;
mod head;
mod method_overrides;
mod mocks;
mod outbound_call;
mod policy;
mod recorded_responses;
mod request_effect;
mod request_rules;
mod secrets;
mod service;
mod session;
mod shared;
mod simulation;
mod target;
mod tls;
mod unfit_variables;
mod usage;

pub use compiled_mocks::CompiledMocks;
pub(crate) use documents::{DOCUMENT_FAILURES, KNOWN_DOCUMENTS};
pub use documents::{DocumentRefused, Documents};
pub use mocks::{MOCKS_MAX, Mock, Mocks};
pub(crate) use policy::EgressPolicy;
pub(crate) use recorded_responses::{RecordedResponse, ResponseLookup};
pub(crate) use service::Egress;
pub(crate) use session::EgressSession;
pub(crate) use shared::EgressRules;
pub(crate) use simulation::Simulation;
