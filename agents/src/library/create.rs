//! Creating items.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::Value;

use super::answer::{Failure, build_outcome};
use super::item::show_item;
use super::record::{Record, build_content};
use crate::platform_call::PlatformCall;

pub(super) fn create<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(create_item::<R>(call).await) })
}

pub(super) async fn create_item<R: Record>(
    PlatformCall { library, arguments, .. }: PlatformCall,
) -> Result<Value, Failure> {
    let content = build_content::<R>(arguments)?;
    let item = library.create(R::FAMILY, content).await?;
    Ok(show_item::<R>(item))
}
