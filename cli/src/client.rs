//! The typed HTTP client of the commands and the demo. Responses have the types of `api::wire`.
//!
//! A call signs in when there is no token, and again when its token is refused. Test, publish and invoke are streamed
//! as server-sent events and followed to their result.

mod agent_runs;
mod agents;
mod attestations;
mod builds;
mod connection;
mod conversations;
mod decoded_response;
mod holds;
mod human_requests;
mod identity;
mod invocations;
mod library;
mod location;
mod operations;
mod pages;
mod record_pages;
mod refusal;
mod repository;
mod request;
mod runs;
mod session;
mod sse;
mod stream;
mod tools;
mod versions;

pub use agent_runs::{AgentRunFilter, StepFilter};
pub use decoded_response::{read, read_all};
pub use human_requests::HumanRequestFilter;
pub use identity::KeyOwner;
pub use invocations::{HistoryFilter, Search};
pub use library::Items;
pub use record_pages::RecordPages;
pub use request::Client;
pub use runs::InvokeRequest;
pub use session::{Credentials, TokenCache};
pub use sse::read_events;
pub use stream::Event;
pub use tools::ToolFilter;
pub use versions::VersionFilter;
