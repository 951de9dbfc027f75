//! Tapes: stored with the end of a run, read for a replay, deleted when they expire.

use std::collections::HashSet;

use super::handle::History;
use super::holds::is_held;
use crate::error::{Error, Result};
use crate::history::{BodyPlace, KeptTape, NewTape, SealedBody, SealedTape, TapeBody, UnsealedTape};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::digest::Digest;
use crate::kit::ids::RunId;
use crate::secrets::DataKey;
use crate::store::database::{Connection, Query, Row};
use crate::store::sql::kit::row::{damaged, get, read_timestamp};

/// Tapes deleted in one write: a commit of some milliseconds.
const DELETED_MAX: u32 = 64;

/// Time that a stored body lasts at least when a new tape relies on it: far more than recording the end of a run takes.
const LASTING_MS: i64 = 3_600_000;

/// Size from which compressing and sealing takes milliseconds, so that it runs on a blocking thread.
pub(super) const BLOCKING_BYTES_MIN: usize = 256 << 10;

/// A legal hold keeps the tapes of its runs.
const ONE: &str = concat!(
    "SELECT t.sealed FROM tapes t CROSS JOIN inv_started s
    WHERE t.organization = $1 AND t.invocation = $2 AND s.invocation = t.invocation AND (t.expires_at > {now} OR ",
    is_held!("s"),
    ")"
);

const BODY: &str = "SELECT sealed, object_digest FROM tape_bodies WHERE organization = $1 AND digest = $2";

/// A body that is kept at least for a while, since its newest tape is.
const LASTING_BODY: &str = "SELECT b.object_digest FROM tape_bodies b WHERE b.organization = $1 AND b.digest = $2 AND
    (SELECT t.expires_at FROM tape_body_uses u JOIN tapes t ON t.invocation = u.invocation
        WHERE u.organization = b.organization AND u.digest = b.digest ORDER BY u.invocation DESC LIMIT 1) > {now} + $3";

const BODIES_IN_USE: &str = "SELECT object_digest FROM tape_bodies WHERE object_digest IS NOT NULL";

const EXPIRED: &str = concat!(
    "SELECT t.organization, t.invocation, t.expires_at FROM tapes t CROSS JOIN inv_started s
    WHERE t.expires_at <= {now} AND t.expires_at >= $1 AND s.invocation = t.invocation AND NOT ",
    is_held!("s"),
    " ORDER BY t.expires_at LIMIT $2"
);

const BODIES_OF: &str = "SELECT digest FROM tape_body_uses WHERE invocation = $1";

/// Deletes a tape. A foreign key deletes its references to bodies.
const DELETE: &str = "DELETE FROM tapes WHERE invocation = $1";

const DELETE_BODY: &str = "DELETE FROM tape_bodies WHERE organization = $1 AND digest = $2 AND NOT EXISTS
    (SELECT 1 FROM tape_body_uses u WHERE u.organization = $1 AND u.digest = $2) RETURNING object_digest";

/// Expired tapes that were deleted.
#[derive(Debug)]
pub(crate) struct DeletedTapes {
    pub tapes: u64,
    /// Objects of the storage whose rows were deleted with the tapes.
    pub objects: Vec<Digest>,
    /// The time at which the last one expired.
    pub last: Option<Timestamp>,
}

impl History {
    /// Whether tapes are stored at all.
    pub fn keeps_tapes(&self) -> bool {
        !self.store.0.config.tape_retention.is_zero()
    }

    /// Seals a tape with its organisation's key.
    pub(crate) async fn seal_tape(
        &self,
        organization: &OrganizationId,
        run: &RunId,
        tape: UnsealedTape,
    ) -> Result<NewTape> {
        let key = self.store.access().get_data_key(organization).await?;
        let bytes = tape.bytes.len() + tape.bodies.iter().map(|body| body.bytes.len()).sum::<usize>();
        if bytes < BLOCKING_BYTES_MIN {
            return tape.seal(&key, organization, run);
        }
        let (organization, run) = (organization.clone(), run.clone());
        let sealed = tokio::task::spawn_blocking(move || tape.seal(&key, &organization, &run));
        sealed.await.map_err(|_| Error::Closed)?
    }

    /// Returns the tape of a run. Expired tapes are absent. [`Error::Corrupt`] when the tape cannot be opened.
    pub(crate) async fn tape(&self, organization: &OrganizationId, run: &RunId) -> Result<Option<KeptTape>> {
        let query = Query::new(ONE).bind(organization.as_str()).bind(run.as_str());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        let Some(sealed) = get::<Option<&[u8]>>(&row, "sealed")? else { return Ok(Some(KeptTape::Cut)) };
        let key = self.store.access().get_data_key(organization).await?;
        key.open_tape(organization, run, sealed).map(KeptTape::Whole).map(Some)
    }

    /// Returns the place of a body, given its SHA-256.
    pub(crate) async fn tape_body(
        &self,
        organization: &OrganizationId,
        digest: &[u8; 32],
    ) -> Result<Option<BodyPlace>> {
        let kept = self.store.access().get_data_key(organization).await?.body_digest(digest);
        let query = Query::new(BODY).bind(organization.as_str()).bind(kept.as_slice());
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        Ok(Some(match read_object(&row)? {
            Some(object) => BodyPlace::Object(object),
            None => BodyPlace::Row(get(&row, "sealed")?),
        }))
    }

    /// Opens a sealed body, given its SHA-256.
    pub(crate) async fn open_tape_body(
        &self,
        organization: &OrganizationId,
        digest: &[u8; 32],
        sealed: &[u8],
    ) -> Result<TapeBody> {
        let key = self.store.access().get_data_key(organization).await?;
        let bytes = key.open_body(organization, &key.body_digest(digest), sealed)?;
        Ok(TapeBody { digest: *digest, bytes: bytes.to_vec() })
    }

    /// Finds a body, given its keyed digest, that is stored at least for the next hour: a tape that is recorded before can use it.
    /// Returns its object, and `Some(None)` for a row with the sealed bytes.
    pub(crate) async fn lasting_body(
        &self,
        organization: &OrganizationId,
        kept: &[u8; 32],
    ) -> Result<Option<Option<Digest>>> {
        let query = Query::new(LASTING_BODY).bind(organization.as_str()).bind(kept.as_slice()).bind(LASTING_MS);
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read_object).transpose()
    }

    /// Returns the digests of all objects that a body refers to.
    pub async fn bodies_in_use(&self) -> Result<HashSet<Digest>> {
        let rows = Query::new(BODIES_IN_USE).fetch_all(self.store.readers()).await?;
        rows.iter().filter_map(|row| read_object(row).transpose()).collect()
    }

    /// Deletes some of the tapes that expired at a time or later, and bodies that no other tape uses.
    pub(crate) async fn delete_expired_tapes(&self, from: Timestamp) -> Result<DeletedTapes> {
        self.store.write(move |connection| Box::pin(delete_expired(connection, from))).await
    }
}

impl UnsealedTape {
    fn seal(self, key: &DataKey, organization: &OrganizationId, run: &RunId) -> Result<NewTape> {
        let body = |body: &TapeBody| -> Result<SealedBody> {
            // Other tapes share the body, so its digest must be right.
            if Digest::of(&body.bytes).as_bytes() != &body.digest {
                return Err(Error::Corrupt { what: "tape", detail: "a body does not match its digest".to_owned() });
            }
            let digest = key.body_digest(&body.digest);
            let sealed = key.seal_body(organization, &digest, &body.bytes)?;
            Ok(SealedBody { digest, sealed, size: body.bytes.len() as u64, object: None })
        };
        let bodies = self.bodies.iter().map(body).collect::<Result<Vec<_>>>()?;
        let size = self.bytes.len() as u64 + bodies.iter().map(|body| body.size).sum::<u64>();
        let sealed = key.seal_tape(organization, run, self.bytes)?;
        Ok(NewTape::Whole(SealedTape { sealed, size, bodies }))
    }
}

/// Deletes at most [`DELETED_MAX`] tapes that expired at a time or later, and their bodies that no other tape uses.
async fn delete_expired(connection: &mut Connection, from: Timestamp) -> Result<DeletedTapes> {
    let mut objects = Vec::new();
    let query = Query::new(EXPIRED).bind(from.as_milliseconds()).bind(DELETED_MAX);
    let expired = query.fetch_all(&mut *connection).await?;
    for row in &expired {
        let (organization, run) = (get::<&str>(row, "organization")?, get::<&str>(row, "invocation")?);
        let bodies = Query::new(BODIES_OF).bind(run).fetch_all(&mut *connection).await?;
        Query::new(DELETE).bind(run).execute(&mut *connection).await?;
        for body in &bodies {
            let query = Query::new(DELETE_BODY).bind(organization).bind(get::<&[u8]>(body, "digest")?);
            let deleted = query.fetch_all(&mut *connection).await?;
            objects.extend(deleted.iter().filter_map(|row| read_object(row).transpose()).collect::<Result<Vec<_>>>()?);
        }
    }
    let last = expired.last().map(|row| read_timestamp(row, "expires_at")).transpose()?;
    Ok(DeletedTapes { tapes: expired.len() as u64, objects, last })
}

/// The object that has a body, unless the row has it.
fn read_object(row: &Row) -> Result<Option<Digest>> {
    let Some(bytes) = get::<Option<&[u8]>>(row, "object_digest")? else { return Ok(None) };
    let bytes = bytes.try_into().map_err(|error| damaged("object_digest", &error))?;
    Ok(Some(Digest::from_bytes(bytes)))
}
