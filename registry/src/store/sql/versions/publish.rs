//! Publishing a version, in one transaction under the fence of the lease.

use std::time::Duration;

use super::attestations;
use super::handle::Versions;
use super::leases::release;
use crate::error::{Error, Result};
use crate::kit::clock::Timestamp;
use crate::kit::ids::VersionId;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query};
use crate::store::sql::kit::row::{get, parse_column, read_unsigned, read_version, to_json, to_signed};
use crate::tools::MissingVariable;
use crate::versions::{BumpKind, Lease, NewVersion, Publication, SchemaText, ToolVersion, Version};

const HIGHEST: &str = "SELECT major, minor, patch FROM versions WHERE organization = $1 AND tool = $2
    ORDER BY major DESC, minor DESC, patch DESC LIMIT 1";

const ORDINAL: &str =
    "SELECT coalesce(max(ordinal), 0) + 1 AS ordinal FROM versions WHERE organization = $1 AND tool = $2";

/// Counts live versions up to the limit.
const LIVE: &str = "SELECT count(*) AS live FROM
    (SELECT 1 FROM versions WHERE organization = $1 AND tool = $2 AND deprecated = 0 LIMIT $3) live_versions";

/// Variables that are missing, or that are of the other kind.
const MISSING: &str =
    "SELECT value, EXISTS (SELECT 1 FROM envvars WHERE organization = $1 AND tool = $2 AND name = value) AS is_other_kind
    FROM {members $3} required
    WHERE value NOT IN (SELECT name FROM envvars WHERE organization = $1 AND tool = $2 AND is_secret = $4)";

const INSERT: &str = "INSERT INTO versions (organization, version_id, tool, major, minor, patch, ordinal,
        required_envvars, required_secret_envvars, input_schema, commit_id, commit_branch, scaffold_commit,
        project_path, settings, image_digest, bundle_digest, component_digest, build, deprecated,
        creator, updated_by, created_at, updated_at, bump)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, $20, $20, $21, $21,
        $22)";

/// A live version that was published with the same inputs.
const SAME: &str = "SELECT version_id, major, minor, patch FROM versions
    WHERE organization = $1 AND tool = $2 AND commit_id = $3 AND commit_branch = $4 AND project_path = $5 AND (CAST($6 AS TEXT) IS NULL OR bump = $6)
        AND created_at > $7 AND deprecated = 0
    ORDER BY ordinal DESC LIMIT 1";

const FINISH_BUILD: &str = "UPDATE builds SET state = 'succeeded', version_id = $3, log = $4, finished_at = $5
    WHERE organization = $1 AND build = $2";

impl Versions {
    /// Publishes a build as the version after the highest one that the tool ever had, and releases the lease.
    /// [`Error::LeaseLost`] when another operation took over, [`Error::VariablesMissing`] when a required variable is missing,
    /// and [`Error::TooMany`] at the limit on live versions.
    pub async fn publish_version(&self, lease: &Lease, new: NewVersion) -> Result<ToolVersion> {
        let (now, live_max) = (self.store.0.clock.now(), self.store.0.config.live_versions_max);
        let publishing = Publishing { lease: lease.clone(), id: VersionId::new(&self.store.0.clock), now, new };
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    release(connection, &publishing.lease).await?;
                    publishing.check_live_versions(connection, live_max).await?;
                    publishing.check_variables(connection).await?;
                    let version = publishing.next_version(connection).await?;
                    publishing.insert(connection, &version).await?;
                    attestations::insert(connection, &version, &publishing.new.attestation).await?;
                    publishing.finish_build(connection).await?;
                    Ok(version)
                })
            })
            .await
    }

    /// Fails with [`Error::PublishedAlready`] when an equal publication created a version within the last `time`, and that
    /// version is live.
    pub async fn refuse_repetition(&self, lease: &Lease, publication: &Publication, time: Duration) -> Result<()> {
        let now = self.store.0.clock.now().as_milliseconds();
        let since = now.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
        let query = Query::new(SAME).bind(lease.organization.as_str()).bind(lease.tool.as_str());
        let query = query.bind(publication.commit.as_str()).bind(publication.commit_branch.as_str());
        let query =
            query.bind(publication.project_path.as_str()).bind(publication.bump.map(BumpKind::as_str)).bind(since);
        match query.fetch_optional(self.store.readers()).await? {
            Some(row) => Err(Error::PublishedAlready {
                branch: publication.commit_branch.clone(),
                version: read_version(&row)?,
                id: parse_column(&row, "version_id")?,
            }),
            None => Ok(()),
        }
    }
}

/// A publication in its transaction.
struct Publishing {
    lease: Lease,
    id: VersionId,
    now: Timestamp,
    new: NewVersion,
}

impl Publishing {
    async fn check_live_versions(&self, connection: &mut Connection, live_max: u32) -> Result<()> {
        let live = read_unsigned(&self.of_tool(LIVE).bind(live_max).fetch_one(connection).await?, "live")?;
        let limit = u64::from(live_max);
        if live < limit { Ok(()) } else { Err(Error::TooMany { what: "live versions per tool", limit }) }
    }

    async fn check_variables(&self, connection: &mut Connection) -> Result<()> {
        let mut missing = Vec::new();
        for (required, is_secret) in [(&self.new.required_envvars, false), (&self.new.required_secret_envvars, true)] {
            let query = self.of_tool(MISSING).bind(to_json(required)?).bind(is_secret);
            for row in &query.fetch_all(&mut *connection).await? {
                let is_other_kind = get(row, "is_other_kind")?;
                missing.push(MissingVariable { name: parse_column(row, "value")?, is_secret, is_other_kind });
            }
        }
        let tool = self.lease.tool.to_string();
        if missing.is_empty() { Ok(()) } else { Err(Error::VariablesMissing { tool, missing }) }
    }

    async fn next_version(&self, connection: &mut Connection) -> Result<ToolVersion> {
        let highest =
            self.of_tool(HIGHEST).fetch_optional(&mut *connection).await?.as_ref().map(read_version).transpose()?;
        let ordinal = get(&self.of_tool(ORDINAL).fetch_one(connection).await?, "ordinal")?;
        let Self { lease, id, now, new } = self;
        Ok(ToolVersion {
            id: id.clone(),
            organization: lease.organization.clone(),
            tool: lease.tool.clone(),
            version: highest.map_or(Version::FIRST, |highest| highest.bump(new.bump)),
            ordinal,
            required_envvars: new.required_envvars.clone(),
            required_secret_envvars: new.required_secret_envvars.clone(),
            input_schema: SchemaText::of(&new.input_schema),
            commit: new.commit.clone(),
            commit_branch: new.commit_branch.clone(),
            scaffold_commit: new.scaffold_commit.clone(),
            project_path: new.project_path.clone(),
            settings: new.settings.clone(),
            image_digest: new.image_digest,
            bundle_digest: new.bundle_digest,
            component_digest: new.component_digest,
            deprecated: false,
            creator: lease.holder.clone(),
            updated_by: lease.holder.clone(),
            created_at: *now,
            updated_at: *now,
        })
    }

    async fn insert(&self, connection: &mut Connection, new: &ToolVersion) -> Result<()> {
        let query = Query::new(INSERT).bind(new.organization.as_str()).bind(new.id.as_str()).bind(new.tool.as_str());
        let [major, minor, patch] = [new.version.major, new.version.minor, new.version.patch].map(to_signed);
        let query = query.bind(major).bind(minor).bind(patch).bind(new.ordinal);
        let query = query.bind(to_json(&new.required_envvars)?).bind(to_json(&new.required_secret_envvars)?);
        let query = query.bind(to_json(&new.input_schema)?).bind(new.commit.as_str()).bind(new.commit_branch.as_str());
        let query = query.bind(new.scaffold_commit.as_str()).bind(new.project_path.as_str());
        let query = query.bind(to_json(&new.settings)?).bind(new.image_digest.to_string());
        let query = query.bind(new.bundle_digest.map(String::from)).bind(new.component_digest.to_string());
        let query = query.bind(self.lease.build.as_str()).bind(new.creator.as_str());
        query.bind(new.created_at.as_milliseconds()).bind(self.new.bump.as_str()).execute(&mut *connection).await?;
        connection.announce(Change::of_organization(ChangeKind::Tools, &new.organization));
        Ok(())
    }

    async fn finish_build(&self, connection: &mut Connection) -> Result<()> {
        let query = Query::new(FINISH_BUILD).bind(self.lease.organization.as_str()).bind(self.lease.build.as_str());
        let query = query.bind(self.id.as_str()).bind(self.new.build_log.as_bytes());
        query.bind(self.now.as_milliseconds()).execute(connection).await?;
        Ok(())
    }

    /// Binds the organisation and the tool as `$1` and `$2`.
    fn of_tool(&self, statement: &'static str) -> Query {
        Query::new(statement).bind(self.lease.organization.to_string()).bind(self.lease.tool.to_string())
    }
}
