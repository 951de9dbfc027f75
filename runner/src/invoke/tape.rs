//! The tape as it is kept: what a run was given and allowed, and what happened.

use std::collections::BTreeSet;

use registry::{Digest, InvocationId, KeptTape, NewTape, OrganizationId, TapeBody};
use serde::{Deserialize, Serialize};

use super::Invoker;
use crate::{Error, Execution, Limits, ResultPersistence, Tape, Taped};

/// More than any tape that this program makes: 8 MiB in memory, and a megabyte of documents. A runner could say more.
const WRITTEN_BYTES_MAX: usize = 16 << 20;

/// What the tape of a small run needs.
const BYTES_USUAL: usize = 2 << 10;

/// The first byte of a kept tape. A release that keeps another form takes another number.
const FORMAT: u8 = 1;

/// The documents of a run, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) tool_input: String,
    pub(super) metadata: String,
    pub(super) config: String,
    pub(super) conversation: String,
    pub(super) user_variables: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) given: Given,
    pub(super) limits: Limits,
    pub(super) persistence: ResultPersistence,
    /// Of the version's whole component; nothing for the test of a branch.
    pub(super) component: Option<Digest>,
    /// Values that the host put into requests; an answer may have told them.
    pub(super) host_secrets: Vec<String>,
    pub(super) tape: Box<Tape>,
}

impl From<&Execution> for Given {
    fn from(execution: &Execution) -> Self {
        Self {
            tool_input: execution.tool_input.clone(),
            metadata: execution.metadata.clone(),
            config: execution.config.clone(),
            conversation: execution.conversation.clone(),
            user_variables: execution.user_variables.clone(),
        }
    }
}

/// What of a kept tape the run itself does not know.
pub(super) struct Frame {
    pub(super) given: Given,
    pub(super) limits: Limits,
    pub(super) persistence: ResultPersistence,
    pub(super) component: Option<Digest>,
    pub(super) host_secrets: Vec<String>,
}

impl Invoker {
    /// The tape of a run for its record. One that cannot be kept is missed, and never fails the run.
    pub(super) async fn sealed(
        &self,
        organization: &OrganizationId,
        run: &InvocationId,
        taped: Taped,
        frame: Option<Frame>,
    ) -> Option<NewTape> {
        let Frame { given, limits, persistence, component, host_secrets } = frame?;
        let mut tape = match taped {
            Taped::Nothing => return None,
            Taped::Cut => return Some(NewTape::Cut),
            Taped::Whole(tape) => tape,
        };
        let sealed = async {
            let fits = tape.bodies.fit();
            let bodies = tape.bodies.take().map(|(digest, bytes)| TapeBody { digest, bytes }).collect();
            let bytes = written(&Kept { given, limits, persistence, component, host_secrets, tape })?;
            if !fits || bytes.len() > WRITTEN_BYTES_MAX {
                return Ok(NewTape::Cut);
            }
            Ok::<_, Error>(self.store.seal_tape(organization, run, bytes, bodies).await?)
        };
        match sealed.await {
            Ok(sealed) => Some(sealed),
            Err(error) => {
                tracing::error!(invocation = %run, %error, "a tape cannot be kept");
                None
            }
        }
    }

    /// The tape of a run, opened.
    pub(super) async fn kept(&self, organization: &OrganizationId, run: &InvocationId) -> Result<Kept, Error> {
        let found = self.store.tape(organization, run).await.map_err(|error| unless_damaged(run, error))?;
        let bytes = match found {
            None => return Err(Error::TapeMissing),
            Some(KeptTape::Cut) => return Err(Error::TapeCut),
            Some(KeptTape::Whole(bytes)) => bytes,
        };
        let mut kept: Kept = match bytes.split_first() {
            Some((&FORMAT, bytes)) => postcard::from_bytes(bytes).map_err(|error| damaged(run, &error))?,
            _ => return Err(Error::TapeMissing), // of a release that wrote another form
        };
        for digest in kept.tape.wanted_bodies().collect::<BTreeSet<_>>() {
            let body = self.store.tape_body(organization, &digest).await;
            kept.tape.bodies.put(digest, body.map_err(|error| unless_damaged(run, error))?.bytes);
        }
        Ok(kept)
    }
}

fn written(kept: &Kept) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(BYTES_USUAL);
    bytes.push(FORMAT);
    postcard::to_extend(kept, bytes).map_err(|error| Error::internal(error.to_string()))
}

fn unless_damaged(run: &InvocationId, error: registry::Error) -> Error {
    if error.kind() == registry::ErrorKind::Corrupt { damaged(run, &error) } else { error.into() }
}

fn damaged(run: &InvocationId, error: &dyn std::fmt::Display) -> Error {
    tracing::error!(invocation = %run, %error, "a tape is damaged");
    Error::TapeDamaged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tape::tests::tape;

    proptest! {
        #[test]
        fn a_kept_tape_is_read_as_it_was_written(tape in tape(), texts in proptest::array::uniform5(".{0,20}")) {
            let [tool_input, metadata, config, conversation, user_variables] = texts;
            let given = Given { tool_input, metadata, config, conversation, user_variables };
            let (limits, persistence) = (Limits::DEFAULT, ResultPersistence::Persisted);
            let component = Some(Digest::of(b"component"));
            let kept = Kept { given, limits, persistence, component, host_secrets: vec!["s".into()], tape: Box::new(tape) };
            let bytes = written(&kept).unwrap();
            prop_assert_eq!(bytes[0], FORMAT);
            prop_assert_eq!(postcard::from_bytes::<Kept>(&bytes[1..]).unwrap(), kept);
        }
    }
}
