//! Listing items, newest first.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::{Map, Value, json};

use super::answer::{Failure, build_outcome};
use super::fields::{LIMIT_DEFAULT, read_number};
use super::item::show_listed_item;
use super::record::Record;
use crate::domain::library::{LibraryFilter, LibraryRange};
use crate::platform_call::PlatformCall;

pub(super) fn list<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(list_items::<R>(call).await) })
}

async fn list_items<R: Record>(PlatformCall { library, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let (limit, offset) = (read_number(&arguments, "limit", LIMIT_DEFAULT), read_number(&arguments, "offset", 0));
    // One item more than the page has shows whether there are others.
    let range = LibraryRange { limit: limit + 1, offset };
    let mut items = library.list(R::FAMILY, &read_filter::<R>(&arguments), range).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = items.len() > limit;
    items.truncate(limit);
    Ok(json!({"items": items.into_iter().map(show_listed_item::<R>).collect::<Vec<_>>(), "has_more": has_more}))
}

fn read_filter<R: Record>(arguments: &Map<String, Value>) -> LibraryFilter {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let label = R::LABEL.and_then(|label| arguments.get(label)).and_then(text);
    let tags = arguments.get("tags").and_then(Value::as_array);
    let switch = R::SWITCH.filter(|(parameter, _)| arguments.get(*parameter) == Some(&Value::Bool(true)));
    let tags = tags.into_iter().flatten().filter_map(text).chain(switch.map(|(_, field)| field.to_owned()));
    LibraryFilter { label, tags: tags.collect() }
}
