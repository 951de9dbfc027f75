//! Changing the state of tasks.

use futures_util::future::BoxFuture;
use runner::Outcome;
use serde_json::{Map, Value};

use super::super::answer::{Failure, build_outcome, not_found};
use super::super::fields::take_id;
use super::super::item::show_item;
use super::super::record::Record;
use super::moment::Moment;
use super::task::Task;
use crate::error::Error;
use crate::platform_call::PlatformCall;

/// Attempts of a change while others change the task: the server when it is due, and other agents.
const ATTEMPTS: u32 = 4;

/// Changes a task, with the arguments of the tool.
type Change = fn(&mut Task, &Map<String, Value>, Moment) -> Result<(), Failure>;

pub(super) fn complete(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    answer_change(call, |task, arguments, now| {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let result = text("result").map(ToOwned::to_owned);
        if text("status") == Some("cancelled") { task.cancel(result, now) } else { task.complete(result, now) }
    })
}

pub(super) fn skip_next(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    answer_change(call, |task, _, _| task.skip_next())
}

pub(super) fn end_recurrence(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    answer_change(call, |task, _, now| task.end_recurrence(now))
}

fn answer_change(call: PlatformCall, change: Change) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(change_task(call, change).await) })
}

/// Repeats a change that another one came before. It may be refused then.
async fn change_task(
    PlatformCall { library, mut arguments, .. }: PlatformCall,
    change: Change,
) -> Result<Value, Failure> {
    let id = take_id::<Task>(&mut arguments)?;
    let mut attempt = 1;
    loop {
        let present = library.get(Task::FAMILY, &id).await?.ok_or_else(|| not_found("task"))?;
        let mut task = Task::of(&present).map_err(Failure::internal)?;
        change(&mut task, &arguments, Moment(library.now()))?;
        let content = task.content().map_err(Failure::internal)?;
        match library.update(Task::FAMILY, &id, present.revision, content).await {
            Err(Error::Changed { .. }) if attempt < ATTEMPTS => attempt += 1,
            updated => return Ok(show_item::<Task>(updated?)),
        }
    }
}
