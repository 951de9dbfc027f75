//! Reading one item.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::super::tool::NativeCall;
use super::answer::{Failure, not_found, outcome};
use super::fields::take_id;
use super::item::shown;
use super::record::Record;
use crate::outcome::Outcome;

pub(super) fn get<R: Record>(call: NativeCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { outcome(got::<R>(call).await) })
}

async fn got<R: Record>(NativeCall { library, mut arguments, .. }: NativeCall) -> Result<Value, Failure> {
    let id = take_id::<R>(&mut arguments)?;
    let found = library.get(R::FAMILY, &id).await?;
    found.map(shown::<R>).ok_or_else(|| not_found(R::FAMILY.as_str()))
}
