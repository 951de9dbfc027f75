//! Pages of the list of tools. A cursor belongs to one catalogue: one agent, its revision, its versions and the rights of one user.

use std::sync::Arc;

use registry::Digest;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, PaginatedRequestParams};
use runner::Catalogue;

use super::exposure::Exposed;

/// Tools on one page, some kilobytes each.
const TOOLS_MAX: usize = 100;
/// Milliseconds for which a client may keep a list. Subscriptions announce changes earlier.
const TTL_MS: u64 = 60_000;
/// Hexadecimal characters of the catalogue's digest in a cursor.
const DIGEST_CHARACTERS: usize = 32;

/// Returns the page after the cursor of a request.
pub(super) fn page(
    catalogue: &Arc<Catalogue>,
    request: Option<PaginatedRequestParams>,
) -> Result<ListToolsResult, ErrorData> {
    let digest = catalogue.digest();
    let cursor = request.and_then(|request| request.cursor);
    let start = cursor.map_or(Some(0), |cursor| start_of(&cursor, &digest));
    let stale = "The cursor is not one of this list, or the list has changed. List the tools again without a cursor.";
    let start = start.ok_or_else(|| ErrorData::invalid_params(stale, None))?;
    let (tools, count) = Exposed(catalogue).definitions(start, TOOLS_MAX)?;
    let end = start + tools.len();
    let mut result = ListToolsResult::with_all_items(tools);
    result.next_cursor = (end < count).then(|| cursor_at(end, &digest));
    result.ttl_ms = Some(TTL_MS);
    result.cache_scope = Some(CacheScope::Private);
    Ok(result)
}

fn cursor_at(start: usize, digest: &Digest) -> String {
    format!("{start}.{}", &digest.to_hex()[..DIGEST_CHARACTERS])
}

/// Returns the first tool of the page that a cursor begins; `None` for a cursor of another catalogue.
fn start_of(cursor: &str, digest: &Digest) -> Option<usize> {
    let start = cursor.split_once('.')?.0.parse().ok()?;
    (cursor_at(start, digest) == cursor).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_one_catalogue() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let cursor = cursor_at(100, &one);
        assert_eq!(start_of(&cursor, &one), Some(100));
        assert_eq!(start_of(&cursor, &other), None);
        for wrong in ["", "100", ".", "100.", "-1.00", &cursor.replace("100", "0100"), &format!("{cursor}0")] {
            assert_eq!(start_of(wrong, &one), None, "{wrong}");
        }
    }
}
