//! Deleting old failed builds, and finding the artifacts that versions refer to, over all organisations.

use std::collections::HashSet;

use serde::Deserialize;

use super::handle::Versions;
use crate::error::Result;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::store::database::{Query, Row};
use crate::store::sql::kit::row::{get, parse_column, parse_optional_column, read_json, read_unsigned};
use crate::versions::OldBuilds;

/// Versions that are read at once. Their settings have some kilobytes each.
const VERSIONS_READ_MAX: u32 = 1_000;
/// Builds that are deleted in one commit, for which other writes wait. Each has a log of at most some hundred kilobytes.
const BUILDS_DELETED_MAX: u32 = 100;

const VERSIONS: &str =
    "SELECT organization, version_id, image_digest, bundle_digest, component_digest, settings FROM versions
    WHERE (organization, version_id) > ($1, $2) ORDER BY organization, version_id LIMIT $3";

const OLD_BUILDS: &str =
    "SELECT count(*) AS builds, CAST(coalesce(sum(octet_length(log)), 0) AS BIGINT) AS bytes FROM builds
    WHERE state = 'failed' AND finished_at < $1";

const DELETE_OLD_BUILDS: &str = "DELETE FROM builds WHERE (organization, build) IN
    (SELECT organization, build FROM builds WHERE state = 'failed' AND finished_at < $1 LIMIT $2)";

impl Versions {
    /// Returns the digests of all artifacts that a version refers to, deprecated or not.
    pub async fn artifacts_in_use(&self) -> Result<HashSet<Digest>> {
        let (mut used, mut last) = (HashSet::new(), (String::new(), String::new()));
        loop {
            let query = Query::new(VERSIONS).bind(last.0).bind(last.1).bind(VERSIONS_READ_MAX);
            let rows = query.fetch_all(self.store.readers()).await?;
            let Some(row) = rows.last() else { return Ok(used) };
            last = (get(row, "organization")?, get(row, "version_id")?);
            for row in &rows {
                used.extend(read_digests(row)?);
            }
        }
    }

    /// Counts the builds that failed before a time.
    pub async fn count_old_builds(&self, before: Timestamp) -> Result<OldBuilds> {
        let row = Query::new(OLD_BUILDS).bind(before.as_milliseconds()).fetch_one(self.store.readers()).await?;
        Ok(OldBuilds { count: read_unsigned(&row, "builds")?, bytes: read_unsigned(&row, "bytes")? })
    }

    /// Deletes the builds that failed before a time, with their logs, in small commits. Returns their number.
    pub async fn delete_old_builds(&self, before: Timestamp) -> Result<u64> {
        let mut deleted = 0;
        loop {
            let batch = self.store.write(move |connection| {
                Box::pin(async move {
                    let query = Query::new(DELETE_OLD_BUILDS).bind(before.as_milliseconds()).bind(BUILDS_DELETED_MAX);
                    Ok(query.execute(connection).await?)
                })
            });
            match batch.await? {
                0 => return Ok(deleted),
                some => deleted += some,
            }
        }
    }
}

/// The part of a version's settings that refers to an artifact. The rest is not read: it may be large, or damaged.
#[derive(Deserialize)]
struct StoredMocks {
    mocks_digest: Option<Digest>,
}

/// The digest of the component of a tool with a bundle is that of image and bundle together, which are stored apart.
fn read_digests(row: &Row) -> Result<impl Iterator<Item = Digest>> {
    let settings: StoredMocks = read_json(row, "settings")?;
    let bundle = parse_optional_column(row, "bundle_digest")?;
    let code = if bundle.is_some() { bundle } else { Some(parse_column(row, "component_digest")?) };
    let image = Some(parse_column(row, "image_digest")?);
    Ok([image, code, settings.mocks_digest].into_iter().flatten())
}
