//! Pages of lists. A cursor belongs to the digest of one list: that of tools depends on the agent, its revision, the versions and the
//! rights of one user, those of the Library on the agent, the user, the application and all items.

use std::sync::Arc;

use agents::Catalogue;
use registry::{Digest, LibraryItemId};
use rmcp::ErrorData;
use rmcp::model::{CacheScope, Cursor, ListToolsResult, PaginatedRequestParams};

use crate::calls::Exposed;

/// Items on one page. Most have some kilobytes.
pub const PAGE_ITEMS: usize = 100;
/// Milliseconds for which a client may keep a list. Subscriptions announce changes earlier.
pub const TTL_MS: u64 = 60_000;
/// Hexadecimal characters of the list's digest in a cursor.
const DIGEST_CHARACTERS: usize = 32;
/// The beginning of a cursor that has the id of an item, and not a number.
const AFTER: char = 'i';
/// The error of a cursor that belongs to no page.
const STALE: &str =
    "The cursor is not one of this list, or the list has changed. Ask for the list again without a cursor.";

/// Returns the page of tools after the cursor of a request.
pub fn build_page(
    catalogue: &Arc<Catalogue>,
    request: Option<PaginatedRequestParams>,
) -> Result<ListToolsResult, ErrorData> {
    let digest = catalogue.digest();
    let start = start(request, &digest)?;
    let (tools, count) = Exposed(catalogue).list_definitions(start, PAGE_ITEMS)?;
    let next_cursor = build_next_cursor(start + tools.len(), count, &digest);
    let result = ListToolsResult::with_all_items(tools).with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private);
    Ok(ListToolsResult { next_cursor, ..result })
}

/// The place in a list at which a page begins.
pub enum Position {
    /// The number of the first entry.
    Start(usize),
    /// The item of the Library before the page.
    After(LibraryItemId),
}

/// Returns the place at which the page begins that a request asks for.
pub fn parse_position(request: Option<PaginatedRequestParams>, digest: &Digest) -> Result<Position, ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok(Position::Start(0)) };
    let item = cursor.strip_prefix(AFTER).and_then(|text| LibraryItemId::parse(text.split_once('.')?.0).ok());
    match item.filter(|item| build_cursor_after(item, digest) == cursor) {
        Some(item) => Ok(Position::After(item)),
        None => {
            let start = start_of(&cursor, digest).ok_or_else(|| ErrorData::invalid_params(STALE, None))?;
            Ok(Position::Start(start))
        }
    }
}

/// Returns the cursor of the page that follows an item.
pub fn build_cursor_after(item: &LibraryItemId, digest: &Digest) -> Cursor {
    format!("{AFTER}{item}.{}", &digest.to_hex()[..DIGEST_CHARACTERS])
}

/// Returns the position of the first item of the page that a request asks for.
pub fn start(request: Option<PaginatedRequestParams>, digest: &Digest) -> Result<usize, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let start = cursor.map_or(Some(0), |cursor| start_of(&cursor, digest));
    start.ok_or_else(|| ErrorData::invalid_params(STALE, None))
}

/// Returns the cursor of the page that begins at `end`; `None` at the end of the list.
pub fn build_next_cursor(end: usize, count: usize, digest: &Digest) -> Option<Cursor> {
    (end < count).then(|| build_cursor_at(end, digest))
}

pub fn build_cursor_at(start: usize, digest: &Digest) -> Cursor {
    format!("{start}.{}", &digest.to_hex()[..DIGEST_CHARACTERS])
}

/// Returns the first item of the page that a cursor begins; `None` for a cursor of another list.
fn start_of(cursor: &str, digest: &Digest) -> Option<usize> {
    let start = cursor.split_once('.')?.0.parse().ok()?;
    (build_cursor_at(start, digest) == cursor).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_after_an_item_belongs_to_one_list() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let item = LibraryItemId::parse("000000000000000000000012").unwrap();
        let at = |cursor: &str, digest| {
            parse_position(Some(PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()))), digest)
        };
        let cursor = build_cursor_after(&item, &one);
        assert!(matches!(at(&cursor, &one), Ok(Position::After(found)) if found == item));
        assert!(matches!(at(&build_cursor_at(7, &one), &one), Ok(Position::Start(7))));
        for wrong in [cursor.clone() + "0", cursor.replace('i', ""), "i.".into(), cursor.replace("12.", "1.")] {
            assert!(at(&wrong, &one).is_err(), "{wrong}");
        }
        assert!(at(&cursor, &other).is_err());
    }

    #[test]
    fn a_cursor_belongs_to_one_list() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let cursor = build_cursor_at(100, &one);
        assert_eq!(start_of(&cursor, &one), Some(100));
        assert_eq!(start_of(&cursor, &other), None);
        for wrong in ["", "100", ".", "100.", "-1.00", &cursor.replace("100", "0100"), &format!("{cursor}0")] {
            assert_eq!(start_of(wrong, &one), None, "{wrong}");
        }
    }
}
