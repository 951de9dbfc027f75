//! The recordings of runs: tapes and small bodies in the database, large bodies in the storage of the artifacts.
//!
//! A large body is stored before the row that refers to it, and deleted after that row. A server that ends in between leaves a
//! body that no row refers to, which a later sweep deletes.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use crate::artifacts::{Artifacts, RecordedBodies};
use crate::error::{Error, Result};
use crate::history::{BodyPlace, KeptTape, NewTape, SealedBody, TapeBody, UnsealedTape};
use crate::kit::account::OrganizationId;
use crate::kit::clock::{Clock, Timestamp};
use crate::kit::digest::Digest;
use crate::kit::ids::RunId;
use crate::store::{History, Store};

/// Size of a sealed body from which it is an object of the storage. The rows of smaller bodies cost a database less than a request
/// to a bucket costs the run.
const LARGE_BYTES_MIN: usize = 256 << 10;

/// Time in which the bodies of a run are stored. The caller waits. Bodies that take longer become rows.
const STORE_TIME_MAX: Duration = Duration::from_secs(5);

/// Bodies of a run that are stored at the same time.
const PARALLEL_MAX: usize = 8;

/// Age from which a body without a row is deleted. A run has its row seconds after its bodies are stored.
const UNUSED_AGE_MIN: Duration = Duration::from_hours(24);

/// The recordings of an installation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Recordings {
    history: History,
    clock: Clock,
    bodies: RecordedBodies,
}

impl Recordings {
    pub fn of(store: &Store, artifacts: &Artifacts) -> Self {
        Self { history: store.history(), clock: store.clock().clone(), bodies: artifacts.bodies().clone() }
    }

    /// Seals a tape with its organisation's key, for the record of the run's end. Large bodies are stored.
    pub async fn seal(&self, organization: &OrganizationId, run: &RunId, tape: UnsealedTape) -> Result<NewTape> {
        let mut sealed = self.history.seal_tape(organization, run, tape).await?;
        if let NewTape::Whole(tape) = &mut sealed
            && tape.bodies.iter().any(is_large)
        {
            let deadline = Instant::now() + STORE_TIME_MAX;
            let placed =
                std::mem::take(&mut tape.bodies).into_iter().map(|body| self.place(organization, body, deadline));
            tape.bodies = stream::iter(placed).buffered(PARALLEL_MAX).collect().await;
        }
        Ok(sealed)
    }

    /// Returns the tape of a run. Expired tapes are absent. [`Error::Corrupt`] when the tape cannot be opened.
    pub async fn tape(&self, organization: &OrganizationId, run: &RunId) -> Result<Option<KeptTape>> {
        self.history.tape(organization, run).await
    }

    /// Returns a body of a tape by its SHA-256. [`Error::Corrupt`] when it is missing or cannot be opened.
    pub async fn body(&self, organization: &OrganizationId, digest: &[u8; 32]) -> Result<TapeBody> {
        let missing = || Error::Corrupt { what: "tape", detail: "one of its bodies is missing".to_owned() };
        let sealed = match self.history.tape_body(organization, digest).await?.ok_or_else(missing)? {
            BodyPlace::Row(sealed) => sealed,
            BodyPlace::Object(object) => self.bodies.get(&object).await?.ok_or_else(missing)?,
        };
        self.history.open_tape_body(organization, digest, &sealed).await
    }

    /// Deletes expired tapes, and bodies that no other tape uses. Returns the number of tapes.
    pub async fn delete_expired(&self) -> Result<u64> {
        let (mut tapes, mut objects) = (0, Vec::new());
        // Tapes under a legal hold that expired before are not looked at again.
        let mut from = Some(Timestamp::from_milliseconds(0));
        while let Some(time) = from {
            let deleted = self.history.delete_expired_tapes(time).await?;
            from = deleted.last;
            tapes += deleted.tapes;
            objects.extend(deleted.objects);
        }
        // Those that remain when the storage fails have no row.
        for object in &objects {
            self.bodies.delete(object).await?;
        }
        Ok(tapes)
    }

    /// Deletes bodies that no row refers to. Returns their number.
    pub async fn delete_unused_bodies(&self) -> Result<u64> {
        let before = self.compute_time_before(UNUSED_AGE_MIN);
        // The rows are read after the bodies: a body that is added meanwhile is not among those that are deleted.
        let old = self.bodies.list(before).await?;
        if old.is_empty() {
            return Ok(0);
        }
        let used = self.history.bodies_in_use().await?;
        let mut deleted = 0;
        for body in old.iter().filter(|body| !used.contains(&body.digest)) {
            self.bodies.delete(&body.digest).await?;
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Stores a large body. When the storage or the database fails, the body becomes a row.
    async fn place(&self, organization: &OrganizationId, body: SealedBody, deadline: Instant) -> SealedBody {
        if !is_large(&body) {
            return body;
        }
        let sealed = Bytes::from(body.sealed);
        let reason = match timeout_at(deadline, self.keep_object(organization, &body.digest, &sealed)).await {
            Ok(Ok(Some(object))) => return SealedBody { sealed: Vec::new(), object: Some(object), ..body },
            Ok(Ok(None)) => return SealedBody { sealed: sealed.into(), ..body },
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("storing it takes more than {} seconds", STORE_TIME_MAX.as_secs()),
        };
        tracing::warn!(%organization, reason, "a large body of a recording is kept in the database");
        SealedBody { sealed: sealed.into(), ..body }
    }

    /// Returns the object of a body, given its keyed digest, and stores one unless there is one. `None` for a body that has a row.
    async fn keep_object(
        &self,
        organization: &OrganizationId,
        kept: &[u8; 32],
        sealed: &Bytes,
    ) -> Result<Option<Digest>> {
        match self.history.lasting_body(organization, kept).await? {
            Some(found) => Ok(found),
            None => self.bodies.put(sealed.clone()).await.map(Some),
        }
    }

    fn compute_time_before(&self, age: Duration) -> Timestamp {
        let milliseconds = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_milliseconds(self.clock.now().as_milliseconds().saturating_sub(milliseconds))
    }
}

fn is_large(body: &SealedBody) -> bool {
    body.sealed.len() >= LARGE_BYTES_MIN
}
