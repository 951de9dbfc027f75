//! Runs of agents. One server works on a run at a time; when it is gone, another one goes on from the last checkpoint.

use std::time::Duration;

use registry::statements::{
    Connection, Query, Row, get, parse_column, read_optional_timestamp, read_timestamp, read_unsigned, to_json,
};
use registry::{AgentId, AgentRunId, Error, Once, OrganizationId, Permission, Principal, Result, Timestamp};

use super::handle::AgentRuns;
use super::human_requests;
use crate::domain::agent_runs::{
    AgentRun, AgentRunCapacity, AgentRunState, AgentRunStep, Checkpoint, NewAgentRun, NewHumanResponse, NewStep,
    StartedAgentRun, StepFilter,
};

/// Steps of one answer.
const STEPS_MAX: i64 = 1_000;

/// Servers that begin the same step of a run. One that ends its server each time does not end all others.
const ATTEMPTS_MAX: u32 = 3;

/// Age of a checkpoint after which a run fails if no server has been there for that time: nobody expects it any more when the servers
/// come back the next day, or when a backup is restored.
const ALONE_MAX: Duration = Duration::from_hours(1);

/// Age of a checkpoint after which a run fails in any case. Until then it waits for its turn.
const AGE_MAX: Duration = Duration::from_hours(24);

/// Age of a checkpoint of a run of this server on which it does not work: the answer to a commit was lost.
const IDLE_AFTER: Duration = Duration::from_mins(1);

/// Ended runs of one deletion.
const DELETED_MAX: i64 = 200;

const START_RUN: &str = "INSERT INTO agent_runs
        (organization, agent_run, agent, account, state, iterations, document, boot, revision, created_at, updated_at,
        idempotency_key, fingerprint, kind, objective)
    VALUES ($1, $2, $3, $4, 'running', 0, $5, $6, 1, $7, $7, $8, $9, $10, $11)
    ON CONFLICT (organization, account, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING";

const RUN_BY_KEY: &str = "SELECT * FROM agent_runs WHERE organization = $1 AND account = $2 AND idempotency_key = $3";

const RUN_BY_ID: &str = "SELECT * FROM agent_runs WHERE organization = $1 AND agent_run = $2";

/// `$3` is 1 for an administrator, who sees the runs of all users.
const FIND_RUN: &str = "SELECT * FROM agent_runs
    WHERE organization = $1 AND agent_run = $4 AND (account = $2 OR $3 = 1)";

/// Writes a checkpoint, unless another server has taken the run over or a user has cancelled it.
const SAVE_RUN: &str =
    "UPDATE agent_runs SET state = $3, iterations = $4, document = $5, updated_at = $6, ended_at = $7,
        attempts = 0, revision = revision + 1
    WHERE organization = $1 AND agent_run = $2 AND state = 'running' AND revision = $8 AND boot = $9";

const ADD_STEP: &str = "INSERT INTO agent_run_steps (organization, agent_run, number, milestone, document, at)
    SELECT $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5 FROM agent_run_steps
    WHERE organization = $1 AND agent_run = $2";

/// Of two answers, the first one resumes the run.
const RESUME_RUN: &str = "UPDATE agent_runs SET state = 'running', document = $3, updated_at = $4, boot = $5,
        revision = revision + 1
    WHERE organization = $1 AND agent_run = $2 AND state = 'paused' AND revision = $6";

const AMEND_RUN: &str = "UPDATE agent_runs SET document = $3, revision = revision + 1
    WHERE organization = $1 AND agent_run = $2 AND state = 'paused' AND revision = $4";

const CANCEL_RUN: &str =
    "UPDATE agent_runs SET state = 'cancelled', updated_at = $3, ended_at = $3, revision = revision + 1
    WHERE organization = $1 AND agent_run = $2 AND state IN ('running', 'paused')";

const CANCEL_RUNS_OF_AGENT: &str =
    "UPDATE agent_runs SET state = 'cancelled', updated_at = $3, ended_at = $3, revision = revision + 1
    WHERE organization = $1 AND agent = $2 AND state IN ('running', 'paused')";

/// Closes the requests of runs that were cancelled.
const CLOSE_REQUESTS: &str = "UPDATE human_requests SET state = 'cancelled', closed_at = $2
    WHERE organization = $1 AND state = 'open' AND agent_run IN
        (SELECT agent_run FROM agent_runs WHERE organization = $1 AND state = 'cancelled')";

/// Lets any server take the run over, unless somebody else has changed it since this server did.
const RELEASE_RUN: &str = "UPDATE agent_runs SET boot = '', revision = revision + 1
    WHERE organization = $1 AND agent_run = $2 AND state = 'running' AND boot = $3 AND revision <= $4 + 1";

/// Whether nobody works on some run. `$3` has the runs on which this server works.
const IS_ANY_LEFT: &str = "SELECT 1 FROM agent_runs WHERE state = 'running' AND (boot NOT IN (SELECT boot FROM nodes)
        OR (boot = $1 AND updated_at <= $2 AND agent_run NOT IN (SELECT value FROM {members $3} working))) LIMIT 1";

const RELEASE_IDLE: &str = "UPDATE agent_runs SET boot = '', revision = revision + 1
    WHERE state = 'running' AND boot = $1 AND updated_at <= $2
        AND agent_run NOT IN (SELECT value FROM {members $3} working)";

/// Selects the run that has waited longest since its server is gone, of other organisations than those of `$3`. A server that the
/// others believe dead takes nothing over: its own runs look like those of a dead server.
macro_rules! select_abandoned {
    ($end:literal) => {
        concat!(
            "SELECT q.organization, q.agent_run FROM agent_runs q
            WHERE q.state = 'running' AND q.boot NOT IN (SELECT boot FROM nodes)
                AND EXISTS (SELECT 1 FROM nodes WHERE boot = $1)
                AND q.attempts < $2 AND (q.kind = 'call' OR $4 = 1) AND q.organization NOT IN (SELECT value FROM {members $3} busy)
            ORDER BY q.updated_at, q.agent_run LIMIT 1",
            $end
        )
    };
}

/// Runs that no server goes on with: those that have ended several servers, and those that have waited too long.
const ABANDON: &str = "UPDATE agent_runs SET state = 'failed', updated_at = $1, ended_at = $1, revision = revision + 1
    WHERE state = 'running' AND boot NOT IN (SELECT boot FROM nodes) AND EXISTS (SELECT 1 FROM nodes WHERE boot = $2)
        AND (attempts >= $3 OR updated_at <= $4
            OR (updated_at <= $5 AND NOT EXISTS (SELECT 1 FROM nodes WHERE started_at <= {now} - $6)))";

/// Selects the runs that ended first, without those whose item does not have their end yet.
macro_rules! of_expired_runs {
    ($delete:literal) => {
        concat!(
            $delete,
            " WHERE (organization, agent_run) IN (SELECT organization, agent_run FROM agent_runs
                WHERE ended_at <= $1 AND (item IS NULL OR state = 'completed')
                ORDER BY ended_at, organization, agent_run LIMIT $2)"
        )
    };
}

const DELETE_REQUESTS: &str = of_expired_runs!("DELETE FROM human_requests");
const DELETE_STEPS: &str = of_expired_runs!("DELETE FROM agent_run_steps");
const DELETE_RUNS: &str = of_expired_runs!("DELETE FROM agent_runs");

const TAKE_OVER_RUN: &str = concat!(
    "UPDATE agent_runs SET boot = $1, attempts = attempts + 1, revision = revision + 1 WHERE (organization, agent_run) = (",
    select_abandoned!(" {skip locked}"),
    ") RETURNING organization, agent_run, agent, account, kind, state, iterations, document, revision, created_at, updated_at, ended_at"
);

const STEPS: &str = "SELECT number, document, at FROM agent_run_steps
    WHERE organization = $1 AND agent_run = $2 AND (milestone = $3 OR $3 IS NULL) AND at >= $4 AND at <= $5
    ORDER BY number LIMIT $6";

impl AgentRuns {
    /// Starts a run on this server, unless its idempotency key belongs to an earlier one.
    pub async fn start_agent_run(&self, principal: &Principal, new: NewAgentRun) -> Result<StartedAgentRun> {
        let now = self.store.clock().now();
        let run = AgentRun {
            id: AgentRunId::new(self.store.clock()),
            organization: principal.organization.clone(),
            agent: new.agent,
            account: principal.account.clone(),
            kind: new.kind,
            state: AgentRunState::Running,
            iterations: 0,
            document: new.document,
            revision: 1,
            created_at: now,
            updated_at: now,
            ended_at: None,
        };
        let query = of_run(START_RUN, &run).bind(run.agent.as_str()).bind(run.account.as_str());
        let query =
            query.bind(run.document.as_str()).bind(self.store.registry().boot().as_str()).bind(now.as_milliseconds());
        let key = new.once.as_ref().map(|once| once.key.to_string());
        let fingerprint =
            new.once.as_ref().map(|once| self.store.registry().operations().fingerprint(once.request.as_bytes()));
        let query = query.bind(key).bind(fingerprint).bind(run.kind.as_str()).bind(new.objective.as_str());
        let started = self.store.write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) }));
        if started.await? == 1 {
            return Ok(StartedAgentRun::New(run));
        }
        match &new.once {
            Some(once) => self.find_agent_run(principal, once).await?.ok_or(Error::NotFound { what: "run" }),
            None => Err(Error::NotFound { what: "run" }),
        }
    }

    /// Finds the run that an earlier request with the same key has started.
    pub async fn find_agent_run(&self, principal: &Principal, once: &Once) -> Result<Option<StartedAgentRun>> {
        let query = Query::new(RUN_BY_KEY).bind(principal.organization.as_str()).bind(principal.account.as_str());
        let found = query.bind(once.key.as_str()).fetch_optional(self.store.readers()).await?;
        let Some(row) = found else { return Ok(None) };
        let is_same = get::<Option<Vec<u8>>>(&row, "fingerprint")?
            == Some(self.store.registry().operations().fingerprint(once.request.as_bytes()));
        Ok(Some(if is_same { StartedAgentRun::Repeated(read(&row)?) } else { StartedAgentRun::OtherRequest }))
    }

    /// Reads a run again.
    pub async fn reread_agent_run(&self, run: &AgentRun) -> Result<Option<AgentRun>> {
        of_run(RUN_BY_ID, run).fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Gives up the work on a run, so that any server takes it over.
    pub async fn release_agent_run(&self, run: &AgentRun) -> Result<()> {
        let query = of_run(RELEASE_RUN, run).bind(self.store.registry().boot().as_str()).bind(run.revision);
        self.store
            .write(move |connection| Box::pin(async move { Ok(query.execute(connection).await?) }))
            .await
            .map(drop)
    }

    /// Deletes runs whose end is older than the history. Returns their number.
    pub async fn delete_expired_agent_runs(&self) -> Result<u64> {
        let Some(retention) = self.store.registry().history_retention() else { return Ok(0) };
        let before = self.store.clock().now().before(retention).as_milliseconds();
        let mut deleted = 0;
        loop {
            let some = self.store.write(move |connection| {
                Box::pin(async move {
                    for of_runs in [DELETE_STEPS, DELETE_REQUESTS] {
                        Query::new(of_runs).bind(before).bind(DELETED_MAX).execute(&mut *connection).await?;
                    }
                    Ok(Query::new(DELETE_RUNS).bind(before).bind(DELETED_MAX).execute(connection).await?)
                })
            });
            let some: u64 = some.await?;
            deleted += some;
            if some < DELETED_MAX.unsigned_abs() {
                return Ok(deleted);
            }
        }
    }

    /// Finds a run of the user; an administrator finds those of all users.
    pub async fn get_agent_run(&self, principal: &Principal, run: &AgentRunId) -> Result<Option<AgentRun>> {
        let query = Query::new(FIND_RUN).bind(principal.organization.as_str()).bind(principal.account.as_str());
        let query = query.bind(principal.may(Permission::Administer)).bind(run.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Writes a checkpoint of a run on which this server works. `None` when it does not any more: another server has taken it over,
    /// or a user has cancelled it.
    pub async fn save_agent_run(&self, run: &AgentRun, checkpoint: Checkpoint) -> Result<Option<AgentRun>> {
        let now = self.store.clock().now();
        let Checkpoint { state, iterations, document, steps, request } = checkpoint;
        let ended_at = state.has_ended().then_some(now);
        let query = of_run(SAVE_RUN, run).bind(state.as_str()).bind(iterations).bind(document.as_str());
        let query = query.bind(now.as_milliseconds()).bind(ended_at.map(Timestamp::as_milliseconds));
        let query = query.bind(run.revision).bind(self.store.registry().boot().as_str());
        let steps = steps.into_iter().map(|step| add_step(run, step, now));
        let more = steps.chain(request.map(|request| human_requests::ask(run, request, now))).collect();
        let saved = self.store.write(move |connection| Box::pin(change(connection, query, more))).await?;
        let revision = run.revision + 1;
        Ok(saved.then(|| AgentRun { state, iterations, document, revision, updated_at: now, ended_at, ..run.clone() }))
    }

    /// Changes a run that stays paused, with the texts of its request. `None` when it is not as it was read.
    pub async fn amend_agent_run(&self, run: &AgentRun, document: String, request: String) -> Result<Option<AgentRun>> {
        let query = of_run(AMEND_RUN, run).bind(document.as_str()).bind(run.revision);
        let more = vec![human_requests::amend(run, request)];
        let amended = self.store.write(move |connection| Box::pin(change(connection, query, more))).await?;
        Ok(amended.then(|| AgentRun { document, revision: run.revision + 1, ..run.clone() }))
    }

    /// Lets this server go on with a paused run whose request was answered. `None` when it is not as it was read.
    pub async fn resume_agent_run(
        &self,
        run: &AgentRun,
        document: String,
        response: NewHumanResponse,
        step: NewStep,
    ) -> Result<Option<AgentRun>> {
        let now = self.store.clock().now();
        let query = of_run(RESUME_RUN, run).bind(document.as_str()).bind(now.as_milliseconds());
        let query = query.bind(self.store.registry().boot().as_str()).bind(run.revision);
        let answer = vec![human_requests::answer(run, response, now), add_step(run, step, now)];
        let resumed = self.store.write(move |connection| Box::pin(change(connection, query, answer))).await?;
        let (state, revision) = (AgentRunState::Running, run.revision + 1);
        Ok(resumed.then(|| AgentRun { state, document, revision, updated_at: now, ..run.clone() }))
    }

    /// Cancels a run that has not ended. Returns whether this call did.
    pub async fn cancel_agent_run(&self, run: &AgentRun) -> Result<bool> {
        let now = self.store.clock().now();
        let query = of_run(CANCEL_RUN, run).bind(now.as_milliseconds());
        let close = vec![human_requests::cancel(run, now)];
        self.store.write(move |connection| Box::pin(change(connection, query, close))).await
    }

    /// Takes over the run whose server is gone and that has waited longest, if there is one. Runs that nobody goes on with fail.
    pub async fn take_over_agent_run(&self, capacity: &AgentRunCapacity) -> Result<Option<AgentRun>> {
        let AgentRunCapacity { working, busy, has_model } = capacity;
        let (now, boot, working) =
            (self.store.clock().now(), self.store.registry().boot().to_string(), to_json(working)?);
        let idle = now.before(IDLE_AFTER).as_milliseconds();
        let left = Query::new(IS_ANY_LEFT).bind(boot.as_str()).bind(idle).bind(working.as_str());
        if left.fetch_optional(self.store.readers()).await?.is_none() {
            return Ok(None);
        }
        let release = Query::new(RELEASE_IDLE).bind(boot.as_str()).bind(idle).bind(working);
        let abandon = Query::new(ABANDON).bind(now.as_milliseconds()).bind(boot.as_str()).bind(ATTEMPTS_MAX);
        let abandon = abandon.bind(now.before(AGE_MAX).as_milliseconds()).bind(now.before(ALONE_MAX).as_milliseconds());
        let abandon = abandon.bind(i64::try_from(ALONE_MAX.as_millis()).unwrap_or(i64::MAX));
        let take =
            Query::new(TAKE_OVER_RUN).bind(boot.as_str()).bind(ATTEMPTS_MAX).bind(to_json(busy)?).bind(*has_model);
        let taken = self.store.write(move |connection| {
            Box::pin(async move {
                release.execute(&mut *connection).await?;
                abandon.execute(&mut *connection).await?;
                Ok(take.fetch_optional(connection).await?)
            })
        });
        taken.await?.as_ref().map(read).transpose()
    }

    /// Returns steps of a run, the first ones first, and whether there are more.
    pub async fn agent_run_steps(&self, run: &AgentRun, filter: StepFilter) -> Result<(Vec<AgentRunStep>, bool)> {
        let StepFilter { milestone, since, until } = filter;
        let time = |time: Option<Timestamp>, open: i64| time.map_or(open, Timestamp::as_milliseconds);
        let query = of_run(STEPS, run).bind(milestone).bind(time(since, 0)).bind(time(until, i64::MAX));
        // One step more shows whether there are others.
        let query = query.bind(STEPS_MAX + 1);
        let mut steps: Vec<_> =
            query.fetch_all(self.store.readers()).await?.iter().map(read_step).collect::<Result<_>>()?;
        let most = usize::try_from(STEPS_MAX).unwrap_or(usize::MAX);
        let has_more = steps.len() > most;
        steps.truncate(most);
        Ok((steps, has_more))
    }
}

/// Cancels the runs of an agent that is deleted.
pub(in crate::store) async fn cancel_runs_of_agent(
    connection: &mut Connection,
    organization: &OrganizationId,
    agent: &AgentId,
    now: Timestamp,
) -> Result<()> {
    let cancel = Query::new(CANCEL_RUNS_OF_AGENT).bind(organization.as_str()).bind(agent.as_str());
    if cancel.bind(now.as_milliseconds()).execute(&mut *connection).await? > 0 {
        let close = Query::new(CLOSE_REQUESTS).bind(organization.as_str()).bind(now.as_milliseconds());
        close.execute(connection).await?;
    }
    Ok(())
}

/// Changes a run with what belongs to it, unless somebody else has changed it before.
async fn change(connection: &mut Connection, run: Query, more: Vec<Query>) -> Result<bool> {
    if run.execute(&mut *connection).await? == 0 {
        return Ok(false);
    }
    for query in more {
        query.execute(&mut *connection).await?;
    }
    Ok(true)
}

fn add_step(run: &AgentRun, step: NewStep, now: Timestamp) -> Query {
    of_run(ADD_STEP, run).bind(step.milestone).bind(step.document).bind(now.as_milliseconds())
}

/// Binds the organisation and the run as `$1` and `$2`.
fn of_run(statement: &'static str, run: &AgentRun) -> Query {
    Query::new(statement).bind(run.organization.as_str()).bind(run.id.as_str())
}

fn read(row: &Row) -> Result<AgentRun> {
    let iterations: i64 = get(row, "iterations")?;
    Ok(AgentRun {
        id: parse_column(row, "agent_run")?,
        organization: parse_column(row, "organization")?,
        agent: parse_column(row, "agent")?,
        account: parse_column(row, "account")?,
        kind: parse_column(row, "kind")?,
        state: parse_column(row, "state")?,
        iterations: u32::try_from(iterations).unwrap_or(u32::MAX),
        document: get(row, "document")?,
        revision: get(row, "revision")?,
        created_at: read_timestamp(row, "created_at")?,
        updated_at: read_timestamp(row, "updated_at")?,
        ended_at: read_optional_timestamp(row, "ended_at")?,
    })
}

fn read_step(row: &Row) -> Result<AgentRunStep> {
    Ok(AgentRunStep {
        number: read_unsigned(row, "number")?,
        document: get(row, "document")?,
        at: read_timestamp(row, "at")?,
    })
}
