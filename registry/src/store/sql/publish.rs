//! Making a version visible: one transaction under the fence of the lease, or nothing.

use std::time::Duration;

use super::attestations;
use super::dialect::Connection;
use super::leases::release;
use super::row::{parsed, signed, to_json, unsigned, version};
use crate::build::Lease;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::ids::VersionId;
use crate::names::EnvvarName;
use crate::store::Store;
use crate::tool_version::{NewVersion, Publication, ToolVersion};
use crate::version::{BumpKind, Version};

const HIGHEST: &str = "SELECT major, minor, patch FROM versions WHERE organization = $1 AND tool = $2
    ORDER BY major DESC, minor DESC, patch DESC LIMIT 1";

const ORDINAL: &str = "SELECT coalesce(max(ordinal), 0) + 1 FROM versions WHERE organization = $1 AND tool = $2";

/// At most one more than the bound is counted.
const LIVE: &str = "SELECT count(*) AS live FROM
    (SELECT 1 FROM versions WHERE organization = $1 AND tool = $2 AND deprecated = 0 LIMIT $3)";

const MISSING: &str = concat!(
    "SELECT value FROM ",
    rows_of!("$3"),
    " WHERE value NOT IN
    (SELECT name FROM envvars WHERE organization = $1 AND tool = $2 AND is_secret = $4)"
);

const INSERT: &str = "INSERT INTO versions (organization, version_id, tool, major, minor, patch, ordinal,
        required_envvars, required_secret_envvars, input_schema, commit_id, commit_branch, scaffold_commit,
        project_path, settings, image_digest, bundle_digest, component_digest, build, deprecated,
        creator, updated_by, created_at, updated_at, bump)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, $20, $20, $21, $21,
        $22)";

/// A version that is in use and was made the same way.
const SAME: &str = "SELECT version_id, major, minor, patch FROM versions
    WHERE organization = $1 AND tool = $2 AND commit_id = $3 AND commit_branch = $4 AND project_path = $5 AND ($6 IS NULL OR bump = $6)
        AND created_at > $7 AND deprecated = 0
    ORDER BY ordinal DESC LIMIT 1";

const FINISH_BUILD: &str = "UPDATE builds SET state = 'succeeded', version_id = $3, log = $4, finished_at = $5
    WHERE organization = $1 AND build = $2";

impl Store {
    /// Publishes what a build made, as the next version after the highest that the tool ever had, and releases the
    /// lease. [`Error::LeaseLost`] when another operation took over; invalid when a required variable is missing or
    /// the tool has as many live versions as it may.
    pub async fn publish_version(&self, lease: &Lease, new: NewVersion) -> Result<ToolVersion> {
        let (lease, now, live_max) = (lease.clone(), self.0.clock.now(), self.0.config.live_versions_max);
        let id = VersionId::new(&self.0.clock);
        self.write(move |connection| {
            Box::pin(async move {
                release(connection, &lease).await?;
                check_live_versions(connection, &lease, live_max).await?;
                check_variables(connection, &lease, &new).await?;
                let (bump, attestation) = (new.bump, new.attestation.clone());
                let published = next(connection, &lease, id, new, now).await?;
                insert(connection, &published.0, &lease, bump).await?;
                if let Some(attestation) = attestation {
                    attestations::insert(connection, &published.0, &attestation).await?;
                }
                finish_build(connection, &lease, &published, now).await?;
                Ok(published.0)
            })
        })
        .await
    }

    /// [`Error::PublishedAlready`] when the same publication made a version less than `time` ago that is still in use.
    pub async fn refuse_repetition(&self, lease: &Lease, publication: &Publication, time: Duration) -> Result<()> {
        let now = self.0.clock.now().as_milliseconds();
        let since = now.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
        let query = sqlx::query(SAME).bind(lease.organization.as_str()).bind(lease.tool.as_str());
        let query = query.bind(publication.commit.as_str()).bind(publication.commit_branch.as_str());
        let query =
            query.bind(publication.project_path.as_str()).bind(publication.bump.map(BumpKind::as_str)).bind(since);
        match query.fetch_optional(self.readers()).await? {
            Some(row) => Err(Error::PublishedAlready { version: version(&row)?, id: parsed(&row, "version_id")? }),
            None => Ok(()),
        }
    }
}

async fn check_live_versions(connection: &mut Connection, lease: &Lease, live_max: u32) -> Result<()> {
    let query = sqlx::query(LIVE).bind(lease.organization.as_str()).bind(lease.tool.as_str());
    let live = unsigned(&query.bind(live_max).fetch_one(connection).await?, "live")?;
    if live < u64::from(live_max) {
        return Ok(());
    }
    Err(Error::TooMany { what: "live versions per tool", limit: u64::from(live_max) })
}

async fn check_variables(connection: &mut Connection, lease: &Lease, new: &NewVersion) -> Result<()> {
    let mut names = missing(connection, lease, &new.required_envvars, false).await?;
    names.extend(missing(connection, lease, &new.required_secret_envvars, true).await?);
    if names.is_empty() { Ok(()) } else { Err(Error::VariablesMissing { names }) }
}

async fn missing(
    connection: &mut Connection,
    lease: &Lease,
    required: &[EnvvarName],
    is_secret: bool,
) -> Result<Vec<EnvvarName>> {
    let query = sqlx::query(MISSING).bind(lease.organization.as_str()).bind(lease.tool.as_str());
    let rows = query.bind(to_json(&required)?).bind(is_secret).fetch_all(connection).await?;
    rows.iter().map(|row| parsed(row, "value")).collect()
}

/// The row to insert, and the log of its build.
async fn next(
    connection: &mut Connection,
    lease: &Lease,
    id: VersionId,
    new: NewVersion,
    now: Timestamp,
) -> Result<(ToolVersion, String)> {
    let query = sqlx::query(HIGHEST).bind(lease.organization.as_str()).bind(lease.tool.as_str());
    let highest = query.fetch_optional(&mut *connection).await?.as_ref().map(version).transpose()?;
    let query = sqlx::query_scalar(ORDINAL).bind(lease.organization.as_str()).bind(lease.tool.as_str());
    let published = ToolVersion {
        id,
        organization: lease.organization.clone(),
        tool: lease.tool.clone(),
        version: highest.map_or(Version::FIRST, |highest| highest.bump(new.bump)),
        ordinal: query.fetch_one(connection).await?,
        required_envvars: new.required_envvars,
        required_secret_envvars: new.required_secret_envvars,
        input_schema: new.input_schema,
        commit: new.commit,
        commit_branch: new.commit_branch,
        scaffold_commit: new.scaffold_commit,
        project_path: new.project_path,
        settings: new.settings,
        image_digest: new.image_digest,
        bundle_digest: new.bundle_digest,
        component_digest: new.component_digest,
        deprecated: false,
        creator: lease.holder.clone(),
        updated_by: lease.holder.clone(),
        created_at: now,
        updated_at: now,
    };
    Ok((published, new.build_log))
}

async fn insert(connection: &mut Connection, new: &ToolVersion, lease: &Lease, bump: BumpKind) -> Result<()> {
    let query = sqlx::query(INSERT).bind(new.organization.as_str()).bind(new.id.as_str()).bind(new.tool.as_str());
    let query = query.bind(signed(new.version.major)).bind(signed(new.version.minor)).bind(signed(new.version.patch));
    let query = query.bind(new.ordinal).bind(to_json(&new.required_envvars)?);
    let query = query.bind(to_json(&new.required_secret_envvars)?).bind(to_json(&new.input_schema)?);
    let query = query.bind(new.commit.as_str()).bind(new.commit_branch.as_str()).bind(new.scaffold_commit.as_str());
    let query = query.bind(new.project_path.as_str()).bind(to_json(&new.settings)?);
    let query = query.bind(new.image_digest.to_string()).bind(new.bundle_digest.map(String::from));
    let query = query.bind(new.component_digest.to_string()).bind(lease.build.as_str());
    let query = query.bind(new.creator.as_str()).bind(new.created_at.as_milliseconds()).bind(bump.as_str());
    query.execute(connection).await?;
    Ok(())
}

async fn finish_build(
    connection: &mut Connection,
    lease: &Lease,
    (published, log): &(ToolVersion, String),
    now: Timestamp,
) -> Result<()> {
    let query = sqlx::query(FINISH_BUILD).bind(lease.organization.as_str()).bind(lease.build.as_str());
    let query = query.bind(published.id.as_str()).bind(log.as_bytes()).bind(now.as_milliseconds());
    query.execute(connection).await?;
    Ok(())
}
