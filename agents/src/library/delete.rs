//! Deleting items.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::tool::NativeCall;
use super::answer::{Failure, outcome};
use super::fields::take_id;
use super::record::{Record, require_not_fixed};
use crate::outcome::Outcome;

pub(super) fn delete<R: Record>(call: NativeCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(deleted::<R>(call).await) })
}

async fn deleted<R: Record>(NativeCall { library, mut arguments, .. }: NativeCall) -> Result<Value, Failure> {
    let id = take_id::<R>(&mut arguments)?;
    if let Some(present) = library.get(R::FAMILY, &id).await? {
        require_not_fixed::<R>(&present, &library)?;
    }
    library.delete(R::FAMILY, &id).await?;
    Ok(json!({R::ID: id, "deleted": true}))
}
