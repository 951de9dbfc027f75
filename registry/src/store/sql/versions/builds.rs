//! Recording failed builds, and reading builds with their logs.

use super::handle::Versions;
use super::leases::release;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::store::database::{Query, Row};
use crate::store::sql::kit::row::{
    get, parse_column, parse_optional_column, read_exact_text, read_timestamp, read_version,
};
use crate::versions::{Build, BuildReference, BuildState, FailedBuild, Lease};

const FAIL: &str = "UPDATE builds SET state = 'failed', stage = $3, message = $4, log = $5, finished_at = $6
    WHERE organization = $1 AND build = $2";

/// Selects a build, with the number of its version if it has one.
macro_rules! select_build {
    ($condition:literal) => {
        concat!(
            "SELECT b.*, v.major, v.minor, v.patch FROM builds b
            LEFT JOIN versions v ON v.organization = b.organization AND v.version_id = b.version_id
            WHERE b.organization = $1 AND ",
            $condition
        )
    };
}

const BY_BUILD: &str = select_build!("b.build = $2");

const BY_VERSION: &str = select_build!("b.version_id = $2");

impl Versions {
    /// Records a failed build and releases its lease. [`Error::LeaseLost`] when another operation took over. Without a database,
    /// it is done as soon as there is one.
    pub async fn record_failed_build(&self, lease: &Lease, failed: FailedBuild) -> Result<()> {
        let recorded = self.fail_build(lease, failed.clone()).await;
        if let Err(error) = &recorded {
            let lease = lease.clone();
            let versions = self.clone();
            self.store.0.lost_commits.after(error, move || {
                let (versions, lease, failed) = (versions.clone(), lease.clone(), failed.clone());
                async move { versions.fail_build(&lease, failed).await }
            });
        }
        recorded
    }

    async fn fail_build(&self, lease: &Lease, failed: FailedBuild) -> Result<()> {
        let (lease, now) = (lease.clone(), self.store.0.clock.now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    release(connection, &lease).await?;
                    let query = Query::new(FAIL).bind(lease.organization.as_str()).bind(lease.build.as_str());
                    let query =
                        query.bind(failed.stage).bind(failed.message.into_bytes()).bind(failed.log.into_bytes());
                    query.bind(now.as_milliseconds()).execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }

    /// Finds a build by its own id or by that of its version.
    pub async fn get_build(&self, organization: &OrganizationId, which: &BuildReference) -> Result<Option<Build>> {
        let query = match which {
            BuildReference::Build(id) => Query::new(BY_BUILD).bind(organization.as_str()).bind(id.as_str()),
            BuildReference::Version(id) => Query::new(BY_VERSION).bind(organization.as_str()).bind(id.as_str()),
        };
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }
}

fn read(row: &Row) -> Result<Build> {
    let finished_at: Option<i64> = get(row, "finished_at")?;
    Ok(Build {
        id: parse_column(row, "build")?,
        organization: parse_column(row, "organization")?,
        tool: parse_column(row, "tool")?,
        state: read_state(row)?,
        log: read_exact_text(row, "log")?,
        creator: parse_column(row, "creator")?,
        started_at: read_timestamp(row, "started_at")?,
        finished_at: finished_at.map(Timestamp::from_milliseconds),
    })
}

fn read_state(row: &Row) -> Result<BuildState> {
    let made = parse_optional_column(row, "version_id")?;
    match (get::<&str>(row, "state")?, made) {
        ("running", None) => Ok(BuildState::Running),
        ("succeeded", Some(made)) => Ok(BuildState::Succeeded { version: made, number: read_version(row)? }),
        ("failed", None) => {
            Ok(BuildState::Failed { stage: get(row, "stage")?, message: read_exact_text(row, "message")? })
        }
        (state, _) => Err(Error::Corrupt { what: "build", detail: format!("state {state}") }),
    }
}
