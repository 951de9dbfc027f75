//! Smart HTTP: one request of a git client becomes one run of `git http-backend`.
//!
//! This module depends on no web framework: it takes a [`GitRequest`] and a reader, and returns a [`GitResponse`] with a
//! reader. Bodies stream in both directions. Four kinds of requests are served; others are [`Error::NotServed`], so
//! that neither the dumb protocol nor a client's path reaches the disk. The caller authenticates and authorises requests.
//!
//! Requests wait for a permit ([`access`]), which bounds all git processes; organisations take turns. Compressed bodies
//! are inflated here ([`feed`]), so that git never receives more than the bound.

mod access;
mod feed;
mod inflate;
mod process;
mod push_advice;
mod request;
mod response;
mod shared_push;

use std::sync::Arc;

use nix::unistd::{AccessFlags, access};
use registry::Admission;
use tokio::io::AsyncRead;

use crate::bare::Repository;
use crate::blocking::blocking;
use crate::config::GitLimits;
use crate::error::Error;
use crate::garbage::{Collector, drop_held_refs};
use crate::git::{GitCommands, GitProgram, remove_locks, remove_quarantines, remove_stopped_packs, write_settings};
use crate::repositories::Repositories;
use crate::shared::Sharing;
use access::{HeldResources, OperationPermit, Push};
pub use inflate::Inflater;
use process::{Backend, Call};
pub use request::GitRequest;
use request::{PUSH_BODY_BYTES_MAX, Service};
pub use response::{GitBody, GitResponse};
use shared_push::SharedPush;

/// Serves the repositories of all organisations. Clones are cheap.
#[derive(Debug, Clone)]
pub struct GitServer {
    repositories: Repositories,
    commands: GitCommands,
    operations: Admission,
    collector: Collector,
}

impl GitServer {
    /// A server for these repositories. No other server may use them, since this removes the leftovers of an earlier one.
    pub fn new(repositories: Repositories, git: GitProgram, limits: GitLimits) -> Result<Self, Error> {
        for path in repositories.list_paths().map_err(Error::io("list the repositories"))? {
            remove_quarantines(&path);
            remove_stopped_packs(&path);
            remove_locks(&path);
            // Failures of one repository must not prevent the start.
            if let Err(error) = write_settings(&path) {
                tracing::error!(repository = %path.display(), %error, "the settings of a repository cannot be written");
            }
            if let Err(error) = drop_held_refs(&path) {
                tracing::error!(repository = %path.display(), %error, "refs of a stopped garbage collection cannot be removed");
            }
        }
        let commands = GitCommands::new(git, repositories.root());
        let collector = Collector::new(commands.clone(), limits.repository_bytes_max);
        Ok(Self { repositories, commands, operations: Admission::new("git", limits.operations), collector })
    }

    /// Answers one request. Dropping the future, or the returned body, stops git and all its processes.
    ///
    /// The caller has got the repository from [`Repositories::find_current`], or created it.
    ///
    /// A push that the hook refuses is a success here: git's protocol carries the reason.
    pub async fn serve(
        &self,
        request: GitRequest,
        body: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<GitResponse, Error> {
        let service = Service::of(&request).ok_or(Error::NotServed)?;
        let repository = self.repositories.find(&request.organization).ok_or(Error::UnknownRepository)?;
        let form = request.find_body_form(service)?;
        self.check(&request, service)?;
        let permit = OperationPermit::wait(&self.operations, &request.organization).await?;
        let permit = Arc::new(permit);
        self.require_tips(&repository).await?;
        let bytes_max = self.collector.bytes_max();
        if let (Some(sharing), Service::Push) = (self.repositories.sharing(), service) {
            let call = Call { request: &request, service, form, repository_bytes_max: bytes_max };
            let push = SharedPush { sharing, repository, commands: &self.commands, permit };
            return push.run(call, body).await;
        }
        let push = match service {
            Service::Push => {
                self.collector.collect_before_push(repository.tracked(), PUSH_BODY_BYTES_MAX).await;
                Some(Push::begin(repository.tracked().clone()).await?)
            }
            _ => None,
        };
        let call = Call { request: &request, service, form, repository_bytes_max: bytes_max };
        let command = call.build_command(&self.commands, repository.path());
        let held = HeldResources { permit, push, ended: None };
        let answer = Backend::start(command, repository, held)?.answer(body, form).await?;
        let is_push = matches!(service, Service::Push);
        Ok(if is_push { answer.with_advice(request.organization.as_str()) } else { answer })
    }

    /// Collects garbage in every repository that is worth it and has no push under way.
    pub async fn collect_garbage(&self) {
        if let Some(sharing) = self.repositories.sharing() {
            return self.collect_shared(sharing).await;
        }
        match self.repositories.list_paths() {
            Ok(paths) => {
                let repositories = paths.into_iter().map(|path| self.repositories.track(path)).collect();
                self.collector.sweep(repositories).await;
            }
            Err(error) => tracing::error!(%error, "the repositories cannot be listed, so that no garbage is collected"),
        }
    }

    /// Stores packs again that the bucket lacks, or has damaged, and this server's copies have.
    pub async fn repair_packs(&self) {
        let Some(sharing) = self.repositories.sharing() else { return };
        let damaged = match sharing.records().damaged().await {
            Ok(damaged) => damaged,
            Err(error) => return tracing::debug!(%error, "cannot look for damaged packs"),
        };
        for damaged in damaged {
            let repository = self.repositories.repository(&damaged.organization);
            if let Err(error) = sharing.repair(&repository, &damaged).await {
                tracing::warn!(organization = %damaged.organization, %error, "a damaged pack cannot be stored again");
            }
        }
    }

    async fn collect_shared(&self, sharing: &Sharing) {
        let organizations = match sharing.records().organizations().await {
            Ok(organizations) => organizations,
            Err(error) => {
                tracing::error!(%error, "the organisations cannot be listed, so that no garbage is collected");
                return;
            }
        };
        for organization in organizations {
            if let Err(error) = sharing.collect(&self.repositories.repository(&organization)).await {
                tracing::error!(%organization, %error, "garbage could not be collected");
            }
        }
    }

    /// Checks that the branches can be read. Repairs this server's copy of a shared repository once.
    async fn require_tips(&self, repository: &Repository) -> Result<(), Error> {
        let read = || {
            let of = repository.clone();
            blocking(move || of.require_tips())
        };
        match (read().await, self.repositories.sharing()) {
            (Err(Error::Damaged { .. }), Some(sharing)) => {
                sharing.heal(repository).await?;
                read().await
            }
            (ended, _) => ended,
        }
    }

    fn check(&self, request: &GitRequest, service: Service) -> Result<(), Error> {
        let bytes_max = service.body_bytes_max();
        if request.content_length.is_some_and(|bytes| bytes > bytes_max) {
            return Err(Error::BodyTooLarge { bytes_max });
        }
        if !service.is_push() {
            return Ok(());
        }
        if !request.may_push {
            return Err(Error::PushForbidden);
        }
        // git ignores a hook that it cannot execute, and would accept the push.
        let path = self.repositories.hook();
        access(&path, AccessFlags::X_OK).map_err(|_| Error::HookMissing { path })
    }
}
