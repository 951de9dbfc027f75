//! HTTP beneath the protocol: headers, hosts, accepted forms and refusals before a message is read.

mod accept;
mod challenge;
mod headers;
mod hosts;
mod metadata;
mod priming;
pub mod transport_refusal;

pub use accept::{Accepted, BOTH, replace_stream};
pub use challenge::add_challenge;
pub use headers::find_sole;
pub use hosts::{build_settings, is_literally_allowed};
pub use metadata::describe_resource;
pub use priming::{drop_empty_events, knows_empty_events};
