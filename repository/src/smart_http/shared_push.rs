//! A push to a repository that several servers share.
//!
//! The body is received before the lease is taken, so that a slow client delays nobody. git's answer is kept until the push is
//! recorded, so that a client never hears of a push that is lost.

use std::path::Path;
use std::sync::Arc;

use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncSeekExt, AsyncWriteExt};
use tokio::sync::oneshot;

use super::access::{HeldResources, OperationPermit};
use super::feed::feed;
use super::process::{Backend, Call};
use super::request::{BodyForm, GitRequest, PUSH_BODY_BYTES_MAX};
use super::response::GitResponse;
use crate::bare::Repository;
use crate::error::Error;
use crate::git::{GitCommands, Priority};
use crate::shared::{Change, Sharing, Staging};

/// Bytes of git's answer to a push: a line for each branch, and what the hook says.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// A push whose request was accepted.
pub(super) struct SharedPush<'a> {
    pub sharing: &'a Sharing,
    pub repository: Repository,
    pub commands: &'a GitCommands,
    pub permit: Arc<OperationPermit>,
}

/// A body that was received, and its size.
struct Received {
    file: File,
    bytes: u64,
}

impl SharedPush<'_> {
    pub(super) async fn run(
        self,
        call: Call<'_>,
        body: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<GitResponse, Error> {
        let received = receive(body, call.form, self.sharing.root()).await?;
        let change = self.begin(call.repository_bytes_max).await?;
        let staging = change.stage().await?;
        let (response, is_complete) = self.serve(call, received, &staging).await?;
        // Continues when the client disconnects: the push is then recorded or not, and not in part.
        let recorded = tokio::spawn(change.record_push(staging, is_complete)).await;
        recorded.map_err(|error| Error::Io { action: "record a push", source: error.into() })??;
        Ok(response)
    }

    /// Takes the lease. Collects garbage first, if the push needs it.
    async fn begin(&self, bytes_max: u64) -> Result<Change, Error> {
        let change = self.sharing.change(&self.repository).await?;
        if !change.needs_collection(PUSH_BODY_BYTES_MAX, bytes_max).await {
            return Ok(change);
        }
        if let Err(error) = change.collect(Priority::Normal).await {
            tracing::error!(organization = %self.repository.organization(), %error, "garbage could not be collected");
        }
        self.sharing.change(&self.repository).await
    }

    /// Returns git's whole answer, and whether git ended by itself and without an error.
    async fn serve(&self, call: Call<'_>, body: Received, staging: &Staging) -> Result<(GitResponse, bool), Error> {
        let Received { file, bytes } = body;
        let request = GitRequest { content_encoding: None, content_length: Some(bytes), ..call.request.clone() };
        let form = BodyForm { is_gzip: false, ..call.form };
        let command = Call { request: &request, form, ..call }.build_command(self.commands, staging.path());
        let (ended, has_ended) = oneshot::channel();
        let held = HeldResources { permit: Arc::clone(&self.permit), push: None, ended: Some(ended) };
        let answer = Backend::start(command, self.repository.clone(), held)?.answer(file, form).await?;
        let answer = answer.with_advice(request.organization.as_str());
        let body = answer.body.complete(ANSWER_BYTES_MAX).await?;
        Ok((GitResponse { body, ..answer }, has_ended.await.unwrap_or(false)))
    }
}

/// Receives a body into a file without a name.
async fn receive(body: impl AsyncRead + Send + Unpin, form: BodyForm, directory: &Path) -> Result<Received, Error> {
    let failed = || Error::io("keep the body of a push");
    let mut file = File::from_std(tempfile::tempfile_in(directory).map_err(failed())?);
    feed(body, &mut file, form).await?;
    file.flush().await.map_err(failed())?;
    let bytes = file.stream_position().await.map_err(failed())?;
    file.rewind().await.map_err(failed())?;
    Ok(Received { file, bytes })
}
