//! Searching memories by words and by meaning.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::{Value, json};

use super::answer::{Failure, build_outcome};
use super::fields::{SEARCH_LIMIT_DEFAULT, read_number};
use super::item::show_item;
use super::record::Record;
use crate::domain::library::MatchedBy;
use crate::domain::library::MemoryResult;
use crate::platform_call::PlatformCall;

pub(super) fn search<R: Record>(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(search_items::<R>(call).await) })
}

async fn search_items<R: Record>(PlatformCall { library, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    let results = library.search_memories(query, read_number(&arguments, "limit", SEARCH_LIMIT_DEFAULT)).await?;
    let items: Vec<_> = results.items.into_iter().map(show_result::<R>).collect();
    Ok(json!({"items": items, "semantic": results.semantic, "corrections": results.corrections}))
}

fn show_result<R: Record>(MemoryResult { item, score, matched: MatchedBy { text, semantic } }: MemoryResult) -> Value {
    let mut shown = show_item::<R>(item);
    let searches = [(text, "text"), (semantic, "semantic")];
    shown["score"] = json!(score);
    shown["matched"] = searches.into_iter().filter(|(has_found, _)| *has_found).map(|(_, name)| name).collect();
    shown
}
