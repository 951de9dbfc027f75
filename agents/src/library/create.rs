//! Creating items.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::Value;

use super::answer::{Failure, outcome};
use super::item::shown;
use super::record::{Record, content_of};
use crate::platform_call::PlatformCall;

pub(super) fn create<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(created::<R>(call).await) })
}

pub(super) async fn created<R: Record>(
    PlatformCall { library, arguments, .. }: PlatformCall,
) -> Result<Value, Failure> {
    let content = content_of::<R>(arguments)?;
    let item = library.create(R::FAMILY, content).await?;
    Ok(shown::<R>(item))
}
