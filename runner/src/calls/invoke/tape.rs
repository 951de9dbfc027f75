//! Stores tapes with the documents and limits of their runs, and reads them for replays.

use std::collections::BTreeSet;

use registry::{Digest, KeptTape, NewTape, OrganizationId, Recordings, RunId, TapeBody, UnsealedTape};
use serde::{Deserialize, Serialize};

use crate::calls::call::ResultPersistence;
use crate::error::{Error, TapeAbsence};
use crate::limits::Limits;
use crate::sandbox::execution::RunDocuments;
use crate::sandbox::tape::{Tape, TapeResult};

/// Bytes of a stored tape: more than 8 MiB of effects and a megabyte of documents. A compromised runner could send
/// more.
const STORED_BYTES_MAX: usize = 16 << 20;

/// The first byte of a stored tape. A release with another format uses another number.
const FORMAT: u8 = 1;

/// The part of a stored tape that is known when the run starts.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TapeFrame {
    pub documents: RunDocuments,
    pub limits: Limits,
    pub persistence: ResultPersistence,
    /// Digest of the version's whole component; `None` for the test of a branch.
    pub component: Option<Digest>,
    /// Secrets that the host added to requests. A response may contain them.
    pub host_secrets: Vec<String>,
}

/// The tape of a run as it is stored.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredTape {
    pub frame: TapeFrame,
    pub tape: Box<Tape>,
}

/// Access to the stored tape of one run.
#[derive(Clone, Copy)]
pub(super) struct TapeStore<'a> {
    pub recordings: &'a Recordings,
    pub organization: &'a OrganizationId,
    pub run: &'a RunId,
}

impl TapeStore<'_> {
    /// Encrypts the tape of a run for its record. A failure is logged, and does not fail the run.
    pub async fn seal(self, result: TapeResult, frame: TapeFrame) -> Option<NewTape> {
        let mut tape = match result {
            TapeResult::NotRecorded => return None,
            TapeResult::Cut => return Some(NewTape::Cut),
            TapeResult::Recorded(tape) => tape,
        };
        let sealed = async {
            let fits = tape.bodies.fit();
            let bodies = tape.bodies.take().map(|(digest, bytes)| TapeBody { digest, bytes }).collect();
            let bytes = write_tape(&StoredTape { frame, tape })?;
            if !fits || bytes.len() > STORED_BYTES_MAX {
                return Ok(NewTape::Cut);
            }
            let tape = UnsealedTape::new(bytes, bodies);
            Ok::<_, Error>(self.recordings.seal(self.organization, self.run, tape).await?)
        };
        match sealed.await {
            Ok(sealed) => Some(sealed),
            Err(error) => {
                tracing::error!(invocation = %self.run, %error, "a tape cannot be kept");
                None
            }
        }
    }

    /// Reads and decrypts the tape of a run.
    pub async fn open(self) -> Result<StoredTape, Error> {
        let found =
            self.recordings.tape(self.organization, self.run).await.map_err(|error| self.report_if_damaged(error))?;
        let bytes = match found {
            None => return Err(Error::TapeMissing(TapeAbsence::NotKept)),
            Some(KeptTape::Cut) => return Err(Error::TapeCut),
            Some(KeptTape::Whole(bytes)) => bytes,
        };
        let mut stored: StoredTape = match bytes.split_first() {
            Some((&FORMAT, bytes)) => postcard::from_bytes(bytes).map_err(|error| self.report_damage(&error))?,
            _ => return Err(Error::TapeMissing(TapeAbsence::OtherRelease)),
        };
        for digest in stored.tape.list_wanted_bodies().collect::<BTreeSet<_>>() {
            let body = self.recordings.body(self.organization, &digest).await;
            stored.tape.bodies.put(digest, body.map_err(|error| self.report_if_damaged(error))?.bytes);
        }
        Ok(stored)
    }

    fn report_if_damaged(self, error: registry::Error) -> Error {
        if error.kind() == registry::ErrorKind::Corrupt { self.report_damage(&error) } else { error.into() }
    }

    fn report_damage(self, error: &dyn std::fmt::Display) -> Error {
        tracing::error!(invocation = %self.run, %error, "a tape is damaged");
        Error::TapeDamaged
    }
}

fn write_tape(stored: &StoredTape) -> Result<Vec<u8>, Error> {
    postcard::to_extend(stored, vec![FORMAT]).map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sandbox::tape::contents::tests::tape;

    proptest! {
        #[test]
        fn a_stored_tape_is_read_as_it_was_written(tape in tape(), texts in proptest::array::uniform5(".{0,20}")) {
            let [tool_input, metadata, config, conversation, user_variables] = texts;
            let documents = RunDocuments { tool_input, metadata, config, conversation, user_variables };
            let (limits, persistence) = (Limits::DEFAULT, ResultPersistence::Persisted);
            let component = Some(Digest::of(b"component"));
            let frame = TapeFrame { documents, limits, persistence, component, host_secrets: vec!["s".into()] };
            let stored = StoredTape { frame, tape: Box::new(tape) };
            let bytes = write_tape(&stored).unwrap();
            prop_assert_eq!(bytes[0], FORMAT);
            prop_assert_eq!(postcard::from_bytes::<StoredTape>(&bytes[1..]).unwrap(), stored);
        }
    }
}
