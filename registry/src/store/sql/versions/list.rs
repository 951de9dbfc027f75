//! Listing the versions of a tool. SQL cannot evaluate PEP 440, so short columns of all versions are read, filtered and
//! sorted here, and then the complete rows of the page are read.

use std::cmp::Ordering;

use super::handle::Versions;
use super::version::read;
use crate::error::{Error, Result};
use crate::kit::account::{OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::kit::page::{Direction, Page, Slice};
use crate::store::database::{Query, Row};
use crate::store::page_tokens::filter_name;
use crate::store::sql::history::record_pages::count_fitting;
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{get, parse_column, read_timestamp, read_unsigned, read_version, to_json};
use crate::tools::ToolRef;
use crate::versions::{ToolVersion, Version, VersionFilter, VersionSort};

const KEYS: &str = "SELECT version_id, major, minor, patch, ordinal, creator, created_at, deprecated,
        CAST(octet_length(input_schema) + octet_length(settings) AS BIGINT) AS bytes FROM versions
    WHERE organization = $1 AND tool = $2";

const NUMBERS: &str = "SELECT major, minor, patch FROM versions WHERE organization = $1 AND tool = $2";

const ROWS: &str = "SELECT * FROM versions WHERE organization = $1 AND version_id IN {members $2}";

/// The columns by which versions are filtered and sorted.
#[derive(Clone)]
struct Key {
    id: String,
    version: Version,
    ordinal: u64,
    creator: UserId,
    created_at: Timestamp,
    deprecated: bool,
    /// Bytes of the schemas and settings.
    bytes: u64,
}

impl Versions {
    /// Lists versions of a tool, by default newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_versions(
        &self,
        of: ToolRef<'_>,
        filter: &VersionFilter,
        page: Page,
    ) -> Result<Slice<ToolVersion>> {
        let ToolRef { organization, tool } = of;
        let filter_name = filter_name(filter);
        let list = ["versions", organization.as_str(), tool.as_str(), &filter_name];
        let mut listing = self.store.open_listing(organization).await?;
        let mut keys = list_version_keys(&mut listing, of).await?;
        let last = if page.is_first() { None } else { Some(self.find_last_version(&list, &keys, page)?) };
        keys.retain(|key| {
            key.passes(organization, filter) && last.as_ref().is_none_or(|last| key.is_behind(last, filter))
        });
        keys.sort_by(|left, right| compare(&filter.sort, left, right));
        keys.truncate(page.limit as usize + 1);
        let fitting = count_fitting(keys.iter().map(|key| key.bytes)).max(1);
        let page = Page { limit: page.limit.min(u32::try_from(fitting).unwrap_or(u32::MAX)), ..page };
        let keys = Slice::cut(keys, page, |key| self.store.page_tokens().seal(&list, key.position()));
        let items = read_versions_in_order(&mut listing, organization, &keys.items).await?;
        Ok(Slice { items, next: keys.next })
    }

    /// Returns the last version of the previous page, with its state at that time.
    fn find_last_version(&self, list: &[&str], keys: &[Key], page: Page) -> Result<Key> {
        let position = self.store.page_tokens().open(list, page.token).ok_or(Error::PageTokenUnknown)?;
        let found = keys.iter().find(|key| key.ordinal == position >> 1).ok_or(Error::PageTokenUnknown)?;
        Ok(Key { deprecated: position & 1 == 1, ..found.clone() })
    }
}

/// Returns the numbers of all versions of a tool, deprecated or not.
pub(in crate::store::sql) async fn list_version_numbers(
    listing: &mut Listing,
    of: ToolRef<'_>,
) -> Result<Vec<Version>> {
    let query = Query::new(NUMBERS).bind(of.organization.as_str()).bind(of.tool.as_str());
    listing.rows(query).await?.iter().map(read_version).collect()
}

async fn list_version_keys(listing: &mut Listing, of: ToolRef<'_>) -> Result<Vec<Key>> {
    let query = Query::new(KEYS).bind(of.organization.as_str()).bind(of.tool.as_str());
    listing.rows(query).await?.iter().map(read_key).collect()
}

async fn read_versions_in_order(
    listing: &mut Listing,
    organization: &OrganizationId,
    keys: &[Key],
) -> Result<Vec<ToolVersion>> {
    let ids: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
    let query = Query::new(ROWS).bind(organization.as_str()).bind(to_json(&ids)?);
    let rows = listing.rows(query).await?;
    let mut versions: Vec<ToolVersion> = rows.iter().map(read).collect::<Result<_>>()?;
    versions.sort_by_key(|version| ids.iter().position(|id| *id == version.id.as_str()));
    Ok(versions)
}

impl Key {
    fn passes(&self, organization: &OrganizationId, filter: &VersionFilter) -> bool {
        let creator = |creator: &crate::Creator| creator.user == self.creator && creator.organization == *organization;
        filter.deprecated.is_none_or(|deprecated| deprecated == self.deprecated)
            && (filter.creators.is_empty() || filter.creators.iter().any(creator))
            && filter.constraint.as_ref().is_none_or(|constraint| constraint.matches(&self.version))
    }

    fn is_behind(&self, last: &Self, filter: &VersionFilter) -> bool {
        compare(&filter.sort, self, last) == Ordering::Greater
    }

    /// Returns the ordinal with the deprecation in the lowest bit: the only sort key of a version that can change.
    const fn position(&self) -> u64 {
        self.ordinal << 1 | self.deprecated as u64
    }
}

fn read_key(row: &Row) -> Result<Key> {
    Ok(Key {
        id: get(row, "version_id")?,
        version: read_version(row)?,
        ordinal: read_unsigned(row, "ordinal")?,
        creator: parse_column(row, "creator")?,
        created_at: read_timestamp(row, "created_at")?,
        deprecated: get(row, "deprecated")?,
        bytes: read_unsigned(row, "bytes")?,
    })
}

/// Compares by the sort keys in turn, then by age, newest first.
fn compare(sort: &[(VersionSort, Direction)], left: &Key, right: &Key) -> Ordering {
    let orders = sort.iter().map(|(column, direction)| match direction {
        Direction::Ascending => compare_by(*column, left, right),
        Direction::Descending => compare_by(*column, right, left),
    });
    orders.fold(Ordering::Equal, Ordering::then).then(right.ordinal.cmp(&left.ordinal))
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
