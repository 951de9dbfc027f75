//! Pages of records. The records of a page are chosen by short columns, and then read completely. A record can have more
//! than a megabyte.

use super::records::{read, select_invocations};
use crate::error::{Error, Result};
use crate::history::Record;
use crate::kit::account::OrganizationId;
use crate::kit::page::Page;
use crate::store::database::{Query, Row};
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{get, read_unsigned, to_json};

/// Stored bytes of a page. The record that reaches the limit is its last. A page is in memory several times, as rows, records
/// and response, and several pages are at the same time.
pub(super) const PAGE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The id of a record, and its size, computed without reading the values.
pub(in crate::store) const SHORT_COLUMNS: &str = "s.invocation, octet_length(s.input) + octet_length(s.source)
    + coalesce(octet_length(f.status_events), 0) + coalesce(octet_length(f.logs), 0)
    + coalesce(octet_length(f.content), 0) + coalesce(octet_length(f.output), 0)
    + coalesce(octet_length(f.exception_type), 0)
    + coalesce(octet_length(f.exception_message), 0) + coalesce(octet_length(f.exception_stack_trace), 0) AS bytes";

/// The wanted ids come first: planners would otherwise scan all records of the organisation.
pub(in crate::store) const WHOLE: &str = select_invocations!(
    @from "{members $2} wanted CROSS JOIN",
    "WHERE s.organization = $1 AND s.invocation = wanted.value"
);

/// A record that a list or a search found.
#[derive(Clone)]
pub struct FoundRecord {
    /// The position in the order of the list or of the search.
    pub position: u64,
    invocation: String,
    bytes: u64,
}

impl FoundRecord {
    pub fn read(row: &Row) -> Result<Self> {
        let (position, bytes) = (read_unsigned(row, "position")?, read_unsigned(row, "bytes")?);
        Ok(Self { position, invocation: get(row, "invocation")?, bytes })
    }
}

/// Returns the page with no more records than fit one.
pub fn fit_page(found: &[FoundRecord], page: Page) -> Page {
    let fitting = u32::try_from(count_fitting(found.iter().map(|record| record.bytes))).unwrap_or(u32::MAX);
    Page { limit: page.limit.min(fitting), ..page }
}

/// Returns how many of the rows with these bytes fit a page: at least one, if there are any.
pub fn count_fitting(sizes: impl Iterator<Item = u64>) -> usize {
    let mut bytes = 0_u64;
    let mut count = 0;
    for size in sizes {
        if bytes >= PAGE_BYTES_MAX {
            break;
        }
        bytes = bytes.saturating_add(size);
        count += 1;
    }
    count
}

/// Reads the records completely, in their order.
pub async fn read_whole(
    listing: &mut Listing,
    organization: &OrganizationId,
    found: &[FoundRecord],
) -> Result<Vec<Record>> {
    let ids: Vec<&str> = found.iter().map(|record| record.invocation.as_str()).collect();
    let query = Query::new(WHOLE).bind(organization.as_str()).bind(to_json(&ids)?);
    let rows = listing.rows(query).await?;
    let mut records = parse_records(rows).await?;
    records.sort_by_key(|record| ids.iter().position(|id| *id == record.start.id.as_str()));
    Ok(records)
}

/// Parses rows on a blocking thread, because megabytes of JSON would delay other requests.
async fn parse_records(rows: Vec<Row>) -> Result<Vec<Record>> {
    let read = tokio::task::spawn_blocking(move || rows.iter().map(read).collect());
    read.await.map_err(|error| Error::Database { source: Box::new(error) })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_with_the_record_that_fills_it() {
        for (bytes, fit) in [
            (&[][..], 0),
            (&[1, 1, 1], 3),
            (&[PAGE_BYTES_MAX - 1, 1, 1], 2),
            (&[PAGE_BYTES_MAX - 1, 0, 1, 1], 3),
            (&[u64::MAX, u64::MAX], 1),
        ] {
            assert_eq!(count_fitting(bytes.iter().copied()), fit, "{bytes:?}");
        }
    }
}
