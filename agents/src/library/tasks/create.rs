//! Creating tasks.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use runner::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::answer::{Failure, build_outcome, invalid};
use super::super::item::show_item;
use super::super::record::Record;
use super::cron::check_cron;
use super::local_times::{find_zone, is_left_out};
use super::moment::Moment;
use super::schedule::Recurrence;
use super::task::{Priority, Task, TaskStatus};
use crate::platform_call::PlatformCall;

/// A new task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTask {
    /// The work, in words that are understood without the conversation.
    #[schemars(length(min = 1, max = 8192))]
    description: String,
    /// When the task is due, as RFC 3339 such as `2026-12-24T09:00:00+01:00`, or as a local time of the zone such as
    /// `2026-12-24T09:00`. Of a recurring task, the first time.
    #[schemars(length(min = 1, max = 64))]
    due_at: Option<String>,
    /// Five fields: minute, hour, day of the month, month and weekday. `0 9 * * 1-5` is every working day at nine.
    #[schemars(length(min = 1, max = 128))]
    cron: Option<String>,
    /// The interval at which the task recurs. A task with a cron expression has `cron`, which may be left out.
    recurrence: Option<Recurrence>,
    /// The zone of local times, such as `Europe/Berlin`. UTC if it is left out.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
    #[serde(default)]
    priority: Priority,
}

pub(super) fn create(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { build_outcome(create_task(call).await) })
}

async fn create_task(PlatformCall { library, agent_call, arguments, .. }: PlatformCall) -> Result<Value, Failure> {
    let new: NewTask = serde_json::from_value(Value::Object(arguments)).map_err(|error| invalid(error.to_string()))?;
    let agent_id = agent_call.map(|call| call.agent.to_string());
    let task = Task { agent_id, ..new.build_task(Moment(library.now()))? };
    let content = task.content().map_err(Failure::internal)?;
    Ok(show_item::<Task>(library.create(Task::FAMILY, content).await?))
}

impl NewTask {
    fn build_task(self, now: Moment) -> Result<Task, Failure> {
        let recurrence = self.read_recurrence()?;
        let timezone = self.timezone.as_deref().unwrap_or("UTC");
        let zone = find_zone(timezone).ok_or_else(|| invalid(format!("/timezone: there is no zone {timezone:?}")))?;
        let timezone = zone.iana_name().unwrap_or(timezone).to_owned();
        let given = self.due_at.as_deref().map(|text| parse_due_time(text, &zone)).transpose()?;
        let left_out = self.due_at.filter(|text| {
            let has_offset = text.parse::<Timestamp>().is_ok();
            !has_offset && text.parse().is_ok_and(|local| is_left_out(&zone, local))
        });
        let mut task = Task {
            description: self.description,
            priority: self.priority,
            status: TaskStatus::Open,
            due_at: given,
            recurrence,
            cron: self.cron,
            timezone,
            starts_at: None,
            local_start: None,
            skip_next: false,
            fire_count: 0,
            fire_history: Vec::new(),
            agent_id: None,
            completed_at: None,
            recurrence_ended_at: None,
            cancelled_at: None,
            last_run_id: None,
            last_run_status: None,
            last_run_error_code: None,
        };
        if matches!(recurrence, Some(Recurrence::Daily | Recurrence::Weekly | Recurrence::Monthly)) {
            task.local_start = left_out;
        }
        task.schedule_first(now)?;
        Ok(task)
    }

    fn read_recurrence(&self) -> Result<Option<Recurrence>, Failure> {
        match (&self.cron, self.recurrence) {
            (Some(cron), None | Some(Recurrence::Cron)) => {
                check_cron(cron).map_err(|problem| invalid(format!("/cron: {problem}")))?;
                Ok(Some(Recurrence::Cron))
            }
            (Some(_), Some(_)) => Err(invalid("/recurrence: beside a cron expression, it is cron or left out")),
            (None, Some(Recurrence::Cron)) => Err(invalid("/cron: the recurrence cron needs an expression")),
            (None, recurrence) => Ok(recurrence),
        }
    }
}

impl Task {
    /// Finds the first time of a recurring task: by cron, the first that is not before the given time; otherwise the given time, or one
    /// step from now.
    fn schedule_first(&mut self, now: Moment) -> Result<(), Failure> {
        let given = self.due_at;
        let from = match self.recurrence {
            None => return Ok(()),
            Some(Recurrence::Cron) => given.map_or(now, |given| Moment(given.0.max(now.0)).just_before()),
            Some(_) => {
                self.starts_at = Some(given.unwrap_or(now));
                given.map_or(now, Moment::just_before)
            }
        };
        self.due_at = self.schedule().and_then(|schedule| schedule.after(from));
        if self.due_at.is_none() {
            return Err(invalid(format!(
                "/{}: there is no such time",
                if self.cron.is_some() { "cron" } else { "due_at" }
            )));
        }
        Ok(())
    }
}

fn parse_due_time(text: &str, zone: &TimeZone) -> Result<Moment, Failure> {
    let problem = "a time of RFC 3339 such as 2026-12-24T09:00:00+01:00, or a local time such as 2026-12-24T09:00";
    Moment::parse(text, zone).ok_or_else(|| invalid(format!("/due_at: should be {problem}")))
}
