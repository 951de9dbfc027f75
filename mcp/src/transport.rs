//! HTTP beneath the protocol: headers, hosts, accepted forms and refusals before a message is read.

mod accept;
mod challenge;
mod headers;
mod hosts;
mod metadata;
mod priming;
pub mod transport_refusal;

pub use accept::{Accepted, BOTH, without_stream};
pub use challenge::with_challenge;
pub use headers::sole;
pub use hosts::{accepting, is_literally_allowed};
pub use metadata::protected_resource;
pub use priming::{drop_empty_events, knows_empty_events};
