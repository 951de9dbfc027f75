//! The tasks of the Library that are due. If the operator wants it, a run of the agent that created a task does the work, and the task
//! fails with the run.

use metrics::counter;
use registry::{AgentRunId, CallerNames, Clock, Error, Timestamp};

use crate::domain::agent_runs::{AgentRunState, RunObjective};
use crate::domain::library::{LibraryContent, LibraryItem};
use crate::library::{RunEnd, end_run, find_creator, fire};
use crate::metrics::TASKS_FIRED;
use crate::runs::{AgentRunOptions, RunCheckpoint};
use crate::store::AgentStore;
use crate::store::{AdvancedItem, DueRun, EndedRun};

/// The code of a run that failed without a checkpoint: no server went on with it.
const ABANDONED: &str = "abandoned";

/// The due tasks of a server.
#[derive(Clone)]
pub struct DueTasks {
    pub(crate) store: AgentStore,
    pub(crate) clock: Clock,
    /// Whether a due task that an agent created starts a run of this agent.
    pub(crate) starts_runs: bool,
}

impl DueTasks {
    /// Fires some of the tasks that are due by the clock of the database. Returns the number of tasks that this call fired.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn fire(&self) -> Result<u64, Error> {
        let Self { store, clock, starts_runs } = self;
        let advance = |item: &LibraryItem, now: Timestamp| advance_item(item, now, starts_runs.then_some(clock));
        let fired = store.advance_due_items(store.read_database_time().await?, &advance).await?;
        counter!(TASKS_FIRED).increment(fired);
        Ok(fired)
    }

    /// Notes the end of a run in its task, of the runs that failed or were cancelled. Returns whether there was one.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn note_ended_run(&self) -> Result<bool, Error> {
        self.store.report_ended_run(&note_end).await
    }
}

fn note_end(item: &LibraryItem, run: &EndedRun) -> Option<LibraryContent> {
    let end = match run.state {
        AgentRunState::Cancelled => RunEnd::Cancelled,
        _ => RunEnd::Failed { error_code: find_error_code(run) },
    };
    end_run(item, &run.id, end, run.ended_at)
}

fn find_error_code(run: &EndedRun) -> String {
    let checkpoint = RunCheckpoint::read(&run.document).ok();
    let failure = checkpoint.as_ref().and_then(RunCheckpoint::failure);
    failure.map_or_else(|| ABANDONED.to_owned(), |failure| failure.code.clone())
}

/// Fires a task. With a clock, for the id of the run, a run of the agent that created the task starts with it.
fn advance_item(item: &LibraryItem, now: Timestamp, clock: Option<&Clock>) -> AdvancedItem {
    let agent = find_creator(item);
    let start = clock.zip(agent).map(|(clock, agent)| (AgentRunId::new(clock), agent));
    let (content, fired) = fire(item, now, start.as_ref().map(|(id, _)| id));
    let run = start.zip(fired).and_then(|((id, agent), description)| {
        let document = RunCheckpoint::new(build_options(item, &description)).written().ok()?;
        Some(DueRun { id, agent, objective: RunObjective::of(&description), document })
    });
    AdvancedItem { content, run }
}

fn build_options(item: &LibraryItem, description: &str) -> AgentRunOptions {
    let id = &item.id;
    let objective = format!(
        "The task {id} is due: {description}\n\nDo the work. Then call task_complete with this task_id and a short result, and \
        __complete__."
    );
    let names = CallerNames { app: item.app.clone(), workflow: item.provenance.workflow.clone() };
    AgentRunOptions { names, ..AgentRunOptions::new(objective) }
}
