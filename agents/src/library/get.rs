//! Reading one item.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::{Map, Value};

use super::answer::{Failure, build_outcome, not_found};
use super::fields::take_id;
use super::item::show_item;
use super::record::Record;
use crate::domain::library::LibraryItem;
use crate::platform_call::PlatformCall;
use crate::store::Library;

pub(super) fn get<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(get_item::<R>(call).await) })
}

async fn get_item<R: Record>(PlatformCall { library, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    find_item::<R>(&library, arguments).await.map(show_item::<R>)
}

/// Finds the item of the arguments, as it is or as it was in the version that they name.
pub(super) async fn find_item<R: Record>(
    library: &Library,
    mut arguments: Map<String, Value>,
) -> Result<LibraryItem, Failure> {
    let id = take_id::<R>(&mut arguments)?;
    let Some(version) = arguments.get("version").filter(|version| !version.is_null()) else {
        return library.get(R::FAMILY, &id).await?.ok_or_else(|| not_found(R::FAMILY.as_str()));
    };
    // No item has a version that is no such number.
    let version = version.as_u64().unwrap_or(u64::MAX);
    library.get_revision(R::FAMILY, &id, version).await?.ok_or_else(|| not_found("version"))
}
