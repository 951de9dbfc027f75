//! Creating items.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::tool::NativeCall;
use super::answer::{Failure, outcome};
use super::item::shown;
use super::record::{Record, content_of};
use crate::outcome::Outcome;

pub(super) fn create<R: Record>(call: NativeCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(created::<R>(call).await) })
}

pub(super) async fn created<R: Record>(NativeCall { library, arguments, .. }: NativeCall) -> Result<Value, Failure> {
    let content = content_of::<R>(arguments)?;
    let item = library.create(R::FAMILY, content).await?;
    Ok(shown::<R>(item))
}
