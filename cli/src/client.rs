//! The typed HTTP client of the commands and the demo.
//!
//! A call signs in when there is no token, and again when its token is refused. Test, publish and invoke are streamed
//! as server-sent events and followed to their result.

mod attestations;
mod builds;
mod connection;
mod identity;
mod invocations;
mod pages;
mod refusal;
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
pub use identity::{ApiKey, Condition, Grant, KeyOwner, Me, Role, User};
pub use invocations::{Difference, HistoryFilter, ReplayRequest, Replayed, SearchField};
pub use request::Client;
pub use runs::{Bump, Input, InvokeRequest, Mode, PublishRequest, ReplayGate, TestRequest};
pub use session::{Credentials, SecretText, TokenCache};
pub use stream::{Event, Status, StepState};
pub use tools::{ToolFilter, read_tool};
pub use versions::{VersionFilter, read_version};
pub use wire::{Answer, Invocation, InvocationResult, ResultStatus, Tag, Tool, ToolVersion};
