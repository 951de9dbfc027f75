//! Finding and deprecating versions.

use super::handle::Versions;
use super::leases::interrupt_expired;
use crate::access::Principal;
use crate::error::Result;
use crate::kit::account::{OrganizationId, UserId};
use crate::kit::ids::{ToolId, VersionId};
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{
    get, parse_column, parse_optional_column, read_json, read_timestamp, read_version, to_json, to_signed,
};
use crate::store::sql::tools::edit::ToolEdit;
use crate::tools::ToolRef;
use crate::versions::{Constraint, ToolVersion, Version};

const GET: &str = "SELECT * FROM versions
    WHERE organization = $1 AND tool = $2 AND major = $3 AND minor = $4 AND patch = $5";

const HIGHEST: &str = "SELECT * FROM versions WHERE organization = $1 AND tool = $2
    ORDER BY major DESC, minor DESC, patch DESC LIMIT 1";

const BY_ID: &str = "SELECT * FROM versions WHERE organization = $1 AND version_id = $2";

const LIVE: &str = "SELECT version_id, major, minor, patch FROM versions
    WHERE organization = $1 AND tool = $2 AND deprecated = 0 ORDER BY major DESC, minor DESC, patch DESC";

const DEPRECATED: &str =
    "SELECT version_id, major, minor, patch FROM versions WHERE organization = $1 AND tool = $2 AND deprecated = 1
    ORDER BY major DESC, minor DESC, patch DESC";

const CREATORS: &str = "SELECT DISTINCT creator FROM versions WHERE organization = $1 AND tool = $2
    ORDER BY creator LIMIT 1000";

const DEPRECATE: &str = "UPDATE versions SET deprecated = 1, updated_by = $3, updated_at = $4
    WHERE organization = $1 AND deprecated = 0 AND version_id IN {members $2}";

impl Versions {
    /// Finds a version, deprecated or not.
    pub async fn get_version(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        version: &Version,
    ) -> Result<Option<ToolVersion>> {
        let query = Query::new(GET).bind(organization.as_str()).bind(tool.as_str()).bind(to_signed(version.major));
        let query = query.bind(to_signed(version.minor)).bind(to_signed(version.patch));
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Finds the version with the highest number, deprecated or not. The next version follows it.
    pub async fn highest_version(&self, organization: &OrganizationId, tool: &ToolId) -> Result<Option<ToolVersion>> {
        let query = Query::new(HIGHEST).bind(organization.as_str()).bind(tool.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Finds the highest live version that matches.
    pub async fn resolve_version(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Option<ToolVersion>> {
        let mut connection = self.store.readers().acquire().await?;
        resolve(&mut connection, ToolRef { organization, tool }, constraint).await
    }

    /// Finds the highest deprecated version that matches, and the live versions, highest first: the answer to a caller that
    /// asks for a version without a live match. `None` when nothing ever matched.
    pub async fn deprecated_match(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Option<(ToolVersion, Vec<Version>)>> {
        let query = Query::new(DEPRECATED).bind(organization.as_str()).bind(tool.as_str());
        let mut listing = self.store.open_listing(organization).await?;
        let rows = listing.rows(query).await?;
        let matching = rows.iter().find(|row| read_version(row).is_ok_and(|version| constraint.matches(&version)));
        let Some(id) = matching.map(|row| get::<String>(row, "version_id")).transpose()? else { return Ok(None) };
        let query = Query::new(BY_ID).bind(organization.as_str()).bind(id);
        let Some(found) = listing.row(query).await?.as_ref().map(read).transpose()? else { return Ok(None) };
        let mut connection = self.store.readers().acquire().await?;
        let live = read_live_versions(&mut connection, ToolRef { organization, tool }).await?;
        Ok(Some((found, live.into_iter().map(|(_, version)| version).collect())))
    }

    /// Lists the users who published versions of the tool, sorted.
    pub async fn version_creators(&self, organization: &OrganizationId, tool: &ToolId) -> Result<Vec<UserId>> {
        let query = Query::new(CREATORS).bind(organization.as_str()).bind(tool.as_str());
        let rows = self.store.open_listing(organization).await?.rows(query).await?;
        rows.iter().map(|row| parse_column(row, "creator")).collect()
    }

    /// Deprecates the live versions that match and returns their number. Without a match, nothing changes.
    /// [`Error::Busy`](crate::Error::Busy) while a publication runs.
    pub async fn deprecate_versions(
        &self,
        principal: &Principal,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<u64> {
        let (edit, constraint) = (self.store.tools().build_edit(principal, tool), constraint.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.require_tool(connection).await?;
                    interrupt_expired(connection, edit.tool(), edit.now).await?;
                    let deprecated = deprecate(connection, &edit, &constraint).await?;
                    if deprecated > 0 {
                        edit.touch(connection).await?;
                    }
                    Ok(deprecated)
                })
            })
            .await
    }
}

pub(super) fn read(row: &Row) -> Result<ToolVersion> {
    Ok(ToolVersion {
        id: parse_column(row, "version_id")?,
        organization: parse_column(row, "organization")?,
        tool: parse_column(row, "tool")?,
        version: read_version(row)?,
        ordinal: get(row, "ordinal")?,
        required_envvars: read_json(row, "required_envvars")?,
        required_secret_envvars: read_json(row, "required_secret_envvars")?,
        input_schema: read_json(row, "input_schema")?,
        commit: get(row, "commit_id")?,
        commit_branch: parse_column(row, "commit_branch")?,
        scaffold_commit: get(row, "scaffold_commit")?,
        project_path: parse_column(row, "project_path")?,
        settings: read_json(row, "settings")?,
        image_digest: parse_column(row, "image_digest")?,
        bundle_digest: parse_optional_column(row, "bundle_digest")?,
        component_digest: parse_column(row, "component_digest")?,
        deprecated: get(row, "deprecated")?,
        creator: parse_column(row, "creator")?,
        updated_by: parse_column(row, "updated_by")?,
        created_at: read_timestamp(row, "created_at")?,
        updated_at: read_timestamp(row, "updated_at")?,
    })
}

pub(super) async fn resolve(
    connection: &mut Connection,
    of: ToolRef<'_>,
    constraint: &Constraint,
) -> Result<Option<ToolVersion>> {
    match resolve_id(connection, of, constraint).await? {
        Some(id) => find_by_id(connection, of.organization, &id).await,
        None => Ok(None),
    }
}

/// Returns the id of the highest live version that matches.
pub(super) async fn resolve_id(
    connection: &mut Connection,
    of: ToolRef<'_>,
    constraint: &Constraint,
) -> Result<Option<VersionId>> {
    let live = read_live_versions(connection, of).await?;
    Ok(live.into_iter().find(|(_, version)| constraint.matches(version)).map(|(id, _)| id))
}

pub(super) async fn find_by_id(
    connection: &mut Connection,
    organization: &OrganizationId,
    id: &VersionId,
) -> Result<Option<ToolVersion>> {
    let query = Query::new(BY_ID).bind(organization.as_str()).bind(id.as_str());
    query.fetch_optional(connection).await?.as_ref().map(read).transpose()
}

/// Returns the live versions of a tool, highest first. Publication bounds their number.
pub async fn read_live_versions(connection: &mut Connection, of: ToolRef<'_>) -> Result<Vec<(VersionId, Version)>> {
    let query = Query::new(LIVE).bind(of.organization.as_str()).bind(of.tool.as_str());
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parse_column(row, "version_id")?, read_version(row)?))).collect()
}

async fn deprecate(connection: &mut Connection, edit: &ToolEdit, constraint: &Constraint) -> Result<u64> {
    let live = read_live_versions(connection, edit.tool()).await?;
    let matching: Vec<_> = live.into_iter().filter(|(_, version)| constraint.matches(version)).collect();
    let ids: Vec<_> = matching.into_iter().map(|(id, _)| id).collect();
    let query = Query::new(DEPRECATE).bind(edit.principal.organization.as_str()).bind(to_json(&ids)?);
    let query = query.bind(edit.principal.user().as_str()).bind(edit.now.as_milliseconds());
    Ok(query.execute(connection).await?)
}
