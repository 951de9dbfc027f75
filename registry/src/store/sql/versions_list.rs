//! Listing the versions of a tool. PEP 440 is beyond SQL, so the short columns are read, chosen and sorted here, and
//! only the rows of the page are read whole.

use std::cmp::Ordering;

use super::dialect::Row;
use super::row::{get, timestamp, to_json, to_list, version};
use super::versions::read;
use crate::account::OrganizationId;
use crate::clock::Timestamp;
use crate::constraint::Constraint;
use crate::error::Result;
use crate::ids::ToolId;
use crate::page::{Direction, Page, Slice};
use crate::store::Store;
use crate::tool_version::{ToolVersion, VersionFilter, VersionSort};
use crate::version::Version;

const KEYS: &str = concat!(
    "SELECT version_id, major, minor, patch, ordinal, created_at, deprecated FROM versions
    WHERE organization = $1 AND tool = $2 AND ($3 IS NULL OR deprecated = $3)
        AND ($4 IS NULL OR creator IN ",
    members_of!("$4"),
    ")
    ORDER BY ordinal DESC"
);

const ROWS: &str = concat!("SELECT * FROM versions WHERE organization = $1 AND version_id IN ", members_of!("$2"));

/// What a version is chosen and sorted by.
struct Key {
    id: String,
    version: Version,
    created_at: Timestamp,
    deprecated: bool,
}

impl Store {
    /// Lists versions of a tool, newest first unless sorted otherwise.
    pub async fn list_versions(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        filter: &VersionFilter,
        page: Page,
    ) -> Result<Slice<ToolVersion>> {
        let keys = self.version_keys(organization, tool, filter).await?;
        let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
        let wanted = keys.into_iter().skip(offset).take(page.limit as usize + 1).map(|key| key.id);
        let ids = Slice::cut(wanted.collect(), page);
        let items = self.versions_in_order(organization, &ids.items).await?;
        Ok(Slice { items, next: ids.next })
    }

    /// The versions of a tool that a constraint allows, deprecated or not.
    pub(super) async fn matching_versions(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        constraint: &Constraint,
    ) -> Result<Vec<Version>> {
        let filter = VersionFilter { constraint: Some(constraint.clone()), ..VersionFilter::default() };
        let keys = self.version_keys(organization, tool, &filter).await?;
        Ok(keys.into_iter().map(|key| key.version).collect())
    }

    async fn version_keys(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        filter: &VersionFilter,
    ) -> Result<Vec<Key>> {
        let query = sqlx::query(KEYS).bind(organization.as_str()).bind(tool.as_str());
        let query = query.bind(filter.deprecated).bind(to_list(&filter.creators)?);
        let rows = query.fetch_all(self.readers()).await?;
        let mut keys: Vec<Key> = rows.iter().map(key).collect::<Result<_>>()?;
        keys.retain(|key| filter.constraint.as_ref().is_none_or(|constraint| constraint.matches(&key.version)));
        keys.sort_by(|left, right| compare(&filter.sort, left, right));
        Ok(keys)
    }

    async fn versions_in_order(&self, organization: &OrganizationId, ids: &[String]) -> Result<Vec<ToolVersion>> {
        let query = sqlx::query(ROWS).bind(organization.as_str()).bind(to_json(&ids)?);
        let rows = query.fetch_all(self.readers()).await?;
        let mut versions: Vec<ToolVersion> = rows.iter().map(read).collect::<Result<_>>()?;
        versions.sort_by_key(|version| ids.iter().position(|id| id == version.id.as_str()));
        Ok(versions)
    }
}

fn key(row: &Row) -> Result<Key> {
    Ok(Key {
        id: get(row, "version_id")?,
        version: version(row)?,
        created_at: timestamp(row, "created_at")?,
        deprecated: get(row, "deprecated")?,
    })
}

/// Compares by the wanted columns in turn; equal keys keep the order they were read in.
fn compare(sort: &[(VersionSort, Direction)], left: &Key, right: &Key) -> Ordering {
    let orders = sort.iter().map(|(column, direction)| match direction {
        Direction::Ascending => compare_by(*column, left, right),
        Direction::Descending => compare_by(*column, right, left),
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

fn compare_by(column: VersionSort, left: &Key, right: &Key) -> Ordering {
    match column {
        VersionSort::CreatedAt => left.created_at.cmp(&right.created_at),
        VersionSort::Major => left.version.major.cmp(&right.version.major),
        VersionSort::Minor => left.version.minor.cmp(&right.version.minor),
        VersionSort::Patch => left.version.patch.cmp(&right.version.patch),
        VersionSort::Deprecated => left.deprecated.cmp(&right.deprecated),
    }
}
