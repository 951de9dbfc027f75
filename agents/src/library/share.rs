//! Sharing items.

use futures_util::future::BoxFuture;
use registry::UserId;
use runner::Outcome;
use serde_json::{Value, json};

use super::answer::{Failure, build_outcome, invalid};
use super::fields::take_id;
use super::record::Record;
use crate::platform_call::PlatformCall;

pub(super) fn share<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(share_item::<R>(call).await) })
}

async fn share_item<R: Record>(PlatformCall { library, mut arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let id = take_id::<R>(&mut arguments)?;
    let user = arguments.remove("user_id").unwrap_or_default();
    let user = UserId::parse(user.as_str().unwrap_or_default()).map_err(|error| invalid(error.to_string()))?;
    library.share(R::FAMILY, &id, &user).await?;
    Ok(json!({R::ID: id, "shared_with": user}))
}
