//! Deleting items.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::{Value, json};

use super::answer::{Failure, build_outcome};
use super::fields::take_id;
use super::record::{Record, require_not_fixed};
use crate::platform_call::PlatformCall;

pub(super) fn delete<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(delete_item::<R>(call).await) })
}

async fn delete_item<R: Record>(PlatformCall { library, mut arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let id = take_id::<R>(&mut arguments)?;
    if let Some(present) = library.get(R::FAMILY, &id).await? {
        require_not_fixed::<R>(&present, &library)?;
    }
    library.delete(R::FAMILY, &id).await?;
    Ok(json!({R::ID: id, "deleted": true}))
}
