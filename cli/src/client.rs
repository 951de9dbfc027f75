//! The typed, thin HTTP client. Commands and the demo use this one, so that what the demo shows is what everybody gets.
//!
//! A call signs in when it has no token, and once more when its token is refused. Test, publish and invoke are asked for as
//! server-sent events and followed to their result.

mod attestations;
mod builds;
mod connection;
mod identity;
mod invocations;
mod pages;
mod request;
mod runs;
mod session;
mod sse;
mod stream;
mod tools;
mod versions;
mod wire;

pub use attestations::{SigningKey, Verification};
pub use builds::Build;
pub use connection::http_client;
pub use identity::{ApiKey, Condition, Grant, KeysOf, Me, Role, User};
pub use invocations::{Difference, HistoryFilter, ReplayRequest, Replayed, SearchField};
pub use request::Client;
pub use runs::{Bump, Gate, Input, Mode, PublishRequest, TestRequest};
pub use session::{Credentials, SecretText, TokenCache};
pub use stream::{Event, Status, StepState};
pub use tools::{ToolFilter, read_tool};
pub use versions::{VersionFilter, read_version};
pub use wire::{Answer, Invocation, InvocationResult, ResultStatus, Tag, Tool, ToolVersion};
