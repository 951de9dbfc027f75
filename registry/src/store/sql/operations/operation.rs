//! Operations: begun at most once per idempotency key, ended once, deleted when they expire.

use super::handle::Operations;
use crate::access::Principal;
use crate::error::{Error, Result};
use crate::history::Record;
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::ids::{BootId, OperationId};
use crate::operations::{BegunOperation, NewOperation, OperationEnd, OperationState, Refused, TrackedOperation};
use crate::secrets::compute_keyed_hash;
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::history::records::{read as read_invocation, select_invocations};
use crate::store::sql::kit::row::{get, parse_column, read_exact_text, read_timestamp, read_version};
use crate::store::sql::versions::build_queue::{ATTEMPTS_MAX, compute_oldest};
use crate::versions::{Lease, Version};

/// Operations that are deleted when a new one begins. Bounds the commit.
const DELETED_MAX: u32 = 256;

const DELETE_EXPIRED: &str = "DELETE FROM operations WHERE (organization, operation) IN
    (SELECT organization, operation FROM operations WHERE expires_at <= $1 AND state <> 'running' ORDER BY expires_at LIMIT $2)";

const DELETE_EXPIRED_KEY: &str = "DELETE FROM operations
    WHERE organization = $1 AND account = $2 AND idempotency_key = $3 AND expires_at <= $4
        AND state <> 'running'";

const BEGIN: &str = "INSERT INTO operations
        (organization, operation, account, kind, tool, idempotency_key, fingerprint, state, boot, started_at,
        expires_at, request)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', $8, $9, $10, $11)
    ON CONFLICT (organization, account, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING";

const BY_KEY: &str = "SELECT * FROM operations WHERE organization = $1 AND account = $2 AND idempotency_key = $3";

const BY_ID: &str = "SELECT * FROM operations WHERE organization = $1 AND operation = $2 AND expires_at > $3";

const END: &str = "UPDATE operations SET status = $4, refusal = $5, finished_at = $6,
        state = CASE
            WHEN $7 = 1 AND kind = 'invoke' AND EXISTS
                (SELECT 1 FROM operation_runs r WHERE r.organization = $1 AND r.operation = $2) THEN 'interrupted'
            ELSE $3 END,
        idempotency_key = CASE
            WHEN ($7 = 1 AND kind = 'publish') OR ($3 = 'failed' AND build IS NULL AND NOT EXISTS
                (SELECT 1 FROM operation_runs r WHERE r.organization = $1 AND r.operation = $2)) THEN NULL
            ELSE idempotency_key END
    WHERE organization = $1 AND operation = $2 AND state = 'running' AND boot = $8";

/// Takes back an operation that its caller never began.
const TAKE_BACK: &str = "DELETE FROM operations
    WHERE organization = $1 AND operation = $2 AND state = 'running' AND boot = $3";

/// A publication that created its version, although the server did not learn it.
const END_PUBLISHED: &str = "UPDATE operations SET state = 'succeeded', finished_at = $3
    WHERE organization = $1 AND operation = $2 AND state = 'running' AND boot = $4 AND EXISTS
        (SELECT 1 FROM builds b WHERE b.organization = operations.organization AND b.build = operations.build
            AND b.state = 'succeeded')";

const LINK_BUILD: &str = "UPDATE operations SET build = $3, commit_id = $4
    WHERE organization = $1 AND operation = $2 AND state = 'running' AND boot = $5";

const RUNS: &str = select_invocations!(
    "JOIN operation_runs r ON r.invocation = s.invocation
    WHERE r.organization = $1 AND r.operation = $2 ORDER BY r.input_index"
);

const VERSION: &str = "SELECT v.major, v.minor, v.patch FROM operations o
    JOIN builds b ON b.organization = o.organization AND b.build = o.build
    JOIN versions v ON v.organization = b.organization AND v.version_id = b.version_id
    WHERE o.organization = $1 AND o.operation = $2";

/// Publications that created their version. Only their response was lost.
const CLOSE_PUBLISHED: &str = "UPDATE operations SET state = 'succeeded', finished_at = $1
    WHERE state = 'running' AND boot NOT IN (SELECT boot FROM nodes) AND EXISTS
        (SELECT 1 FROM builds b WHERE b.organization = operations.organization AND b.build = operations.build
            AND b.state = 'succeeded')";

/// Calls whose runs have all ended.
const CLOSE_RECORDED: &str = "UPDATE operations SET state = 'succeeded', finished_at = $1
    WHERE state = 'running' AND boot NOT IN (SELECT boot FROM nodes)
        AND EXISTS (SELECT 1 FROM operation_runs r
            WHERE r.organization = operations.organization AND r.operation = operations.operation)
        AND NOT EXISTS (SELECT 1 FROM operation_runs r JOIN inv_open i ON i.invocation = r.invocation
            WHERE r.organization = operations.organization AND r.operation = operations.operation)";

/// All other operations, apart from the publications that another server takes over. An operation without runs had no effect,
/// and neither had a publication without a version, so their keys may be used again.
const CLOSE_INTERRUPTED: &str = "UPDATE operations SET state = 'interrupted', finished_at = $1,
        idempotency_key = CASE WHEN EXISTS (SELECT 1 FROM operation_runs r
            WHERE r.organization = operations.organization AND r.operation = operations.operation)
            THEN idempotency_key ELSE NULL END
    WHERE state = 'running' AND boot NOT IN (SELECT boot FROM nodes)
        AND (request IS NULL OR attempts >= $2 OR started_at <= $3)";

impl Operations {
    /// Begins an operation, unless its idempotency key belongs to an earlier one.
    pub async fn begin_operation(&self, principal: &Principal, new: NewOperation) -> Result<BegunOperation> {
        let now = self.store.0.clock.now();
        let row = NewRow {
            principal: principal.clone(),
            id: OperationId::new(&self.store.0.clock),
            // Keyed, because the request may contain secrets that an unkeyed digest would let somebody guess.
            fingerprint: new.once.as_ref().map(|once| self.fingerprint(once.request.as_bytes())),
            expires_at: now.after(self.store.0.config.operation_retention),
            boot: self.store.0.boot.clone(),
            new,
            now,
        };
        let (organization, operation) = (principal.organization.clone(), row.id.clone());
        let begun = self.store.write(move |connection| {
            Box::pin(async move {
                Query::new(DELETE_EXPIRED)
                    .bind(now.as_milliseconds())
                    .bind(DELETED_MAX)
                    .execute(&mut *connection)
                    .await?;
                row.begin(connection).await
            })
        });
        let begun = begun.await;
        if let Err(error) = &begun {
            let store = self.store.clone();
            self.store.0.lost_commits.after(error, move || {
                let take_back = of(TAKE_BACK, &organization, &operation).bind(store.boot().to_string());
                let store = store.clone();
                async move { store.write(move |connection| Box::pin(execute(take_back, connection))).await.map(drop) }
            });
        }
        begun
    }

    /// Records the end of an operation. Does nothing for an operation that is deleted, or that another server took over.
    pub async fn end_operation(
        &self,
        organization: &OrganizationId,
        operation: &OperationId,
        end: OperationEnd,
    ) -> Result<()> {
        let (organization, operation, now) = (organization.clone(), operation.clone(), self.store.0.clock.now());
        let boot = self.store.0.boot.clone();
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    if matches!(end, OperationEnd::Failed { .. }) {
                        let published = of(END_PUBLISHED, &organization, &operation).bind(now.as_milliseconds());
                        published.bind(boot.as_str()).execute(&mut *connection).await?;
                    }
                    let (state, refused, is_for_now) = match end {
                        OperationEnd::Succeeded => ("succeeded", None, false),
                        OperationEnd::Failed { refused, is_for_now } => ("failed", Some(refused), is_for_now),
                    };
                    let status = refused.as_ref().map(|refused| i64::from(refused.status));
                    let query = Query::new(END).bind(organization.as_str()).bind(operation.as_str()).bind(state);
                    let query = query.bind(status).bind(refused.map(|refused| refused.body.into_bytes()));
                    let query = query.bind(now.as_milliseconds()).bind(is_for_now).bind(boot.as_str());
                    query.execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }

    /// Records the build of an operation and the commit to build, if there is one, before the build can have effects.
    /// [`Error::LeaseLost`] when another server took the operation over.
    pub async fn link_build(&self, lease: &Lease, operation: &OperationId, commit: Option<String>) -> Result<()> {
        let link = of(LINK_BUILD, &lease.organization, operation).bind(lease.build.to_string());
        let link = link.bind(commit).bind(self.store.0.boot.to_string());
        let linked = self.store.write(move |connection| Box::pin(execute(link, connection))).await?;
        if linked == 0 { Err(Error::LeaseLost) } else { Ok(()) }
    }

    pub async fn get_operation(
        &self,
        organization: &OrganizationId,
        operation: &OperationId,
    ) -> Result<Option<TrackedOperation>> {
        let query = of(BY_ID, organization, operation).bind(self.store.0.clock.now().as_milliseconds());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Returns the runs of an operation, in the order of its inputs.
    pub async fn operation_runs(&self, organization: &OrganizationId, operation: &OperationId) -> Result<Vec<Record>> {
        let rows = of(RUNS, organization, operation).fetch_all(self.store.readers()).await?;
        rows.iter().map(read_invocation).collect()
    }

    /// Returns the version that an operation published, if any.
    pub async fn operation_version(
        &self,
        organization: &OrganizationId,
        operation: &OperationId,
    ) -> Result<Option<Version>> {
        let row = of(VERSION, organization, operation).fetch_optional(self.store.readers()).await?;
        row.as_ref().map(read_version).transpose()
    }

    pub fn fingerprint(&self, request: &[u8]) -> Vec<u8> {
        compute_keyed_hash(&self.store.0.keys.derive("request fingerprints"), request).to_vec()
    }
}

/// Ends the operations of servers that are gone. Must come before their open runs are ended, which decide the state.
pub(in crate::store::sql) async fn close(connection: &mut Connection, now: Timestamp) -> Result<()> {
    for statement in [CLOSE_PUBLISHED, CLOSE_RECORDED] {
        Query::new(statement).bind(now.as_milliseconds()).execute(&mut *connection).await?;
    }
    let interrupted = Query::new(CLOSE_INTERRUPTED).bind(now.as_milliseconds()).bind(ATTEMPTS_MAX);
    interrupted.bind(compute_oldest(now)).execute(connection).await?;
    Ok(())
}

/// The row of a new operation.
struct NewRow {
    id: OperationId,
    principal: Principal,
    new: NewOperation,
    fingerprint: Option<Vec<u8>>,
    boot: BootId,
    now: Timestamp,
    expires_at: Timestamp,
}

impl NewRow {
    async fn begin(self, connection: &mut Connection) -> Result<BegunOperation> {
        let key = self.new.once.as_ref().map(|once| once.key.as_str());
        let (organization, account) = (self.principal.organization.as_str(), self.principal.account.as_str());
        let query = Query::new(DELETE_EXPIRED_KEY).bind(organization).bind(account).bind(key);
        query.bind(self.now.as_milliseconds()).execute(&mut *connection).await?;
        let query = Query::new(BEGIN).bind(organization).bind(self.id.as_str()).bind(account);
        let query = query.bind(self.new.kind.as_str()).bind(self.new.tool.as_str()).bind(key);
        let query = query.bind(self.fingerprint.as_deref()).bind(self.boot.as_str());
        let query = query.bind(self.now.as_milliseconds()).bind(self.expires_at.as_milliseconds());
        let query = query.bind(self.new.request.as_deref().map(str::as_bytes));
        if query.execute(&mut *connection).await? > 0 {
            return Ok(BegunOperation::New(self.into()));
        }
        let found = Query::new(BY_KEY).bind(organization).bind(account).bind(key).fetch_one(connection).await?;
        let same = get::<Option<Vec<u8>>>(&found, "fingerprint")? == self.fingerprint;
        if same { read(&found).map(BegunOperation::Repeated) } else { Ok(BegunOperation::OtherRequest) }
    }
}

impl From<NewRow> for TrackedOperation {
    fn from(row: NewRow) -> Self {
        Self {
            id: row.id,
            kind: row.new.kind,
            tool: row.new.tool,
            account: row.principal.account,
            state: OperationState::Running,
            started_at: row.now,
            finished_at: None,
        }
    }
}

async fn execute(query: Query, connection: &mut Connection) -> Result<u64> {
    Ok(query.execute(connection).await?)
}

/// Binds the organisation and the operation as `$1` and `$2`.
fn of(statement: &'static str, organization: &OrganizationId, operation: &OperationId) -> Query {
    Query::new(statement).bind(organization.to_string()).bind(operation.to_string())
}

fn read(row: &Row) -> Result<TrackedOperation> {
    let finished_at: Option<i64> = get(row, "finished_at")?;
    Ok(TrackedOperation {
        id: parse_column(row, "operation")?,
        kind: parse_column(row, "kind")?,
        tool: parse_column(row, "tool")?,
        account: parse_column(row, "account")?,
        state: read_state(row)?,
        started_at: read_timestamp(row, "started_at")?,
        finished_at: finished_at.map(Timestamp::from_milliseconds),
    })
}

fn read_state(row: &Row) -> Result<OperationState> {
    match get::<&str>(row, "state")? {
        "running" => Ok(OperationState::Running),
        "succeeded" => Ok(OperationState::Succeeded),
        "failed" => {
            Ok(OperationState::Failed(Refused { status: get(row, "status")?, body: read_exact_text(row, "refusal")? }))
        }
        "interrupted" => Ok(OperationState::Interrupted),
        other => Err(Error::Corrupt { what: "operation", detail: format!("state {other}") }),
    }
}
