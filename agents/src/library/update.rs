//! Changing items.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::Value;

use super::answer::{Failure, build_outcome, not_found};
use super::fields::take_id;
use super::item::show_item;
use super::record::{Record, build_content, require_not_fixed};
use crate::platform_call::PlatformCall;

pub(super) fn update<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(update_item::<R>(call).await) })
}

/// Fields that are absent stay as they are. Of two changes to one revision, the second one is refused.
pub(super) async fn update_item<R: Record>(
    PlatformCall { library, mut arguments, .. }: PlatformCall,
) -> Result<Value, Failure> {
    let id = take_id::<R>(&mut arguments)?;
    let expected = arguments.remove("revision").as_ref().and_then(Value::as_u64);
    let present = library.get(R::FAMILY, &id).await?;
    let present = present.ok_or_else(|| not_found(R::FAMILY.as_str()))?;
    require_not_fixed::<R>(&present, &library)?;
    let mut fields = present.body;
    fields.extend(arguments);
    let revision = expected.unwrap_or(present.revision);
    let content = build_content::<R>(fields)?;
    let item = library.update(R::FAMILY, &id, revision, content).await?;
    Ok(show_item::<R>(item))
}
