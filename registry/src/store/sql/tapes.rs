//! Tapes: stored with the end of a run, read for a replay, deleted when they expire.

use super::keys::data_key;
use super::row::get;
use crate::account::OrganizationId;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::ids::InvocationId;
use crate::secrets::DataKey;
use crate::store::database::{Connection, Query};
use crate::store::handle::Store;
use crate::tape::{KeptTape, NewTape, SealedBody, SealedTape, TapeBody, UnsealedTape};

/// Tapes deleted in one write: a commit of some milliseconds.
const DELETED_MAX: u32 = 64;

/// Size from which compressing and sealing takes milliseconds, so that it runs on a blocking thread.
pub(super) const BLOCKING_BYTES_MIN: usize = 256 << 10;

const ONE: &str = "SELECT sealed FROM tapes WHERE organization = $1 AND invocation = $2 AND expires_at > {now}";

const BODY: &str = "SELECT sealed FROM tape_bodies WHERE organization = $1 AND digest = $2";

const EXPIRED: &str =
    "SELECT organization, invocation FROM tapes WHERE expires_at <= {now} ORDER BY expires_at LIMIT $1";

const BODIES_OF: &str = "SELECT digest FROM tape_body_uses WHERE invocation = $1";

/// Deletes a tape. A foreign key deletes its references to bodies.
const DELETE: &str = "DELETE FROM tapes WHERE invocation = $1";

const DELETE_BODY: &str = "DELETE FROM tape_bodies WHERE organization = $1 AND digest = $2 AND NOT EXISTS
    (SELECT 1 FROM tape_body_uses u WHERE u.organization = $1 AND u.digest = $2)";

impl Store {
    /// Whether tapes are stored at all.
    pub fn keeps_tapes(&self) -> bool {
        !self.0.config.tape_retention.is_zero()
    }

    /// Seals a tape with its organisation's key, for the record of the run's end.
    pub async fn seal_tape(
        &self,
        organization: &OrganizationId,
        run: &InvocationId,
        tape: UnsealedTape,
    ) -> Result<NewTape> {
        let key = self.data_key(organization).await?;
        let bytes = tape.bytes.len() + tape.bodies.iter().map(|body| body.bytes.len()).sum::<usize>();
        if bytes < BLOCKING_BYTES_MIN {
            return tape.sealed(&key, organization, run);
        }
        let (organization, run) = (organization.clone(), run.clone());
        let sealed = tokio::task::spawn_blocking(move || tape.sealed(&key, &organization, &run));
        sealed.await.map_err(|_| Error::Closed)?
    }

    /// Returns the tape of a run. Expired tapes are absent. [`Error::Corrupt`] when the tape cannot be opened.
    pub async fn tape(&self, organization: &OrganizationId, run: &InvocationId) -> Result<Option<KeptTape>> {
        let query = Query::new(ONE).bind(organization.as_str()).bind(run.as_str());
        let Some(row) = query.fetch_optional(self.readers()).await? else { return Ok(None) };
        let Some(sealed) = get::<Option<&[u8]>>(&row, "sealed")? else { return Ok(Some(KeptTape::Cut)) };
        let key = self.data_key(organization).await?;
        key.open_tape(organization, run, sealed).map(KeptTape::Whole).map(Some)
    }

    /// Returns a body of a tape by its SHA-256. [`Error::Corrupt`] when it is missing or cannot be opened.
    pub async fn tape_body(&self, organization: &OrganizationId, digest: &[u8; 32]) -> Result<TapeBody> {
        let key = self.data_key(organization).await?;
        let kept = key.body_digest(digest);
        let query = Query::new(BODY).bind(organization.as_str()).bind(kept.as_slice());
        let missing = || Error::Corrupt { what: "tape", detail: "one of its bodies is missing".to_owned() };
        let row = query.fetch_optional(self.readers()).await?.ok_or_else(missing)?;
        let bytes = key.open_body(organization, &kept, get(&row, "sealed")?)?;
        Ok(TapeBody { digest: *digest, bytes: bytes.to_vec() })
    }

    /// Deletes expired tapes, and bodies that no other tape uses. Returns the number of tapes.
    pub async fn delete_expired_tapes(&self) -> Result<u64> {
        let (mut tapes, mut deleted) = (0, 1);
        while deleted > 0 {
            deleted = self.write(|connection| Box::pin(delete_expired(connection))).await?;
            tapes += deleted;
        }
        Ok(tapes)
    }

    pub(super) async fn data_key(&self, organization: &OrganizationId) -> Result<DataKey> {
        if let Some(key) = self.0.data_keys.get(organization) {
            return Ok(key);
        }
        let mut connection = self.readers().acquire().await?;
        let key = data_key(&mut connection, organization, &self.0.keys).await?;
        self.0.data_keys.insert(organization.clone(), key.clone());
        Ok(key)
    }
}

impl UnsealedTape {
    fn sealed(self, key: &DataKey, organization: &OrganizationId, run: &InvocationId) -> Result<NewTape> {
        let body = |body: &TapeBody| -> Result<SealedBody> {
            // Other tapes share the body, so its digest must be right.
            if Digest::of(&body.bytes).as_bytes() != &body.digest {
                return Err(Error::Corrupt { what: "tape", detail: "a body does not match its digest".to_owned() });
            }
            let digest = key.body_digest(&body.digest);
            let sealed = key.seal_body(organization, &digest, &body.bytes)?;
            Ok(SealedBody { digest, sealed, size: body.bytes.len() as u64 })
        };
        let bodies = self.bodies.iter().map(body).collect::<Result<Vec<_>>>()?;
        let size = self.bytes.len() as u64 + bodies.iter().map(|body| body.size).sum::<u64>();
        let sealed = key.seal_tape(organization, run, self.bytes)?;
        Ok(NewTape::Whole(SealedTape { sealed, size, bodies }))
    }
}

/// Deletes at most [`DELETED_MAX`] tapes, and their bodies that no other tape uses.
async fn delete_expired(connection: &mut Connection) -> Result<u64> {
    let expired = Query::new(EXPIRED).bind(DELETED_MAX).fetch_all(&mut *connection).await?;
    for row in &expired {
        let (organization, run) = (get::<&str>(row, "organization")?, get::<&str>(row, "invocation")?);
        let bodies = Query::new(BODIES_OF).bind(run).fetch_all(&mut *connection).await?;
        Query::new(DELETE).bind(run).execute(&mut *connection).await?;
        for body in &bodies {
            let query = Query::new(DELETE_BODY).bind(organization).bind(get::<&[u8]>(body, "digest")?);
            query.execute(&mut *connection).await?;
        }
    }
    Ok(expired.len() as u64)
}
