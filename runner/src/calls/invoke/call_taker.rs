//! A function that takes a call through all steps, for calls that runs make.

use std::pin::Pin;
use std::sync::Arc;

use super::refusal::Refusal;
use crate::calls::call::{Call, RunResult};

type Taken = Pin<Box<dyn Future<Output = Result<Vec<RunResult>, Refusal>> + Send>>;

/// Takes a call through all steps. The type hides the future of a call from that of the call that makes it.
pub(super) type CallTaker = Arc<dyn Fn(Call) -> Taken + Send + Sync>;
