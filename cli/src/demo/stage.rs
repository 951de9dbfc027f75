//! What the demo stands on, and how it is taken down again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::git::Git;
use crate::client::{Client, Credentials};
use crate::commands::tool::Language;
use crate::failure::Failure;
use crate::home::Home;
use crate::server::Assembled;

/// The demo's runs take seconds; whoever pressed Ctrl-C does not wait longer.
const STRIKE_TIME_MAX: Duration = Duration::from_secs(3);

pub const ORGANIZATION: &str = "demo";
pub const USER: &str = "ada";
pub const TOOL: &str = "greet_guests";

/// Dropping it removes the directory and ends the server with the runtime; [`Stage::strike`] does so in order.
pub struct Stage {
    language: Language,
    directory: TempDir,
    server: Option<Server>,
    client: Option<Client>,
}

struct Server {
    stop: oneshot::Sender<()>,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Stage {
    pub fn prepare(language: Language) -> anyhow::Result<Self> {
        let directory =
            tempfile::Builder::new().prefix("lathe-demo-").tempdir().context("making a temporary directory")?;
        Ok(Self { language, directory, server: None, client: None })
    }

    /// What the tool is written in.
    pub fn language(&self) -> Language {
        self.language
    }

    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub fn home_directory(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub fn home(&self) -> Home {
        Home::at(self.home_directory())
    }

    /// The author's clone.
    pub fn repository(&self) -> PathBuf {
        self.directory.path().join("repository")
    }

    pub fn project(&self) -> PathBuf {
        self.repository().join(project_path())
    }

    pub fn git(&self) -> anyhow::Result<Git> {
        Git::new(self.directory.path(), &self.home_directory(), &self.client()?.credentials().url)
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn client(&self) -> anyhow::Result<&Client> {
        self.client.as_ref().ok_or_else(|| Failure::NotLoggedIn.into())
    }

    pub fn log_in(&mut self, credentials: Credentials) -> anyhow::Result<()> {
        let home = self.home();
        home.save_credentials(&credentials)?;
        self.client = Some(home.client()?);
        Ok(())
    }

    /// Runs the server beside the walk.
    pub fn serve(&mut self, assembled: Assembled) {
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(assembled.serve(async {
            // A stage that is gone stops its server too.
            let _ = stopped.await;
        }));
        self.server = Some(Server { stop, task });
    }

    /// Waits for the end of the server, which is not expected.
    pub async fn server_ended(&mut self) -> anyhow::Result<()> {
        match &mut self.server {
            Some(server) => (&mut server.task).await.context("the server ended")?,
            None => Ok(()),
        }
    }

    /// Stops the server and removes the directory.
    pub async fn strike(mut self) {
        drop(self.client.take());
        if let Some(Server { stop, mut task }) = self.server.take() {
            // A server without a receiver has ended already.
            let _ = stop.send(());
            if tokio::time::timeout(STRIKE_TIME_MAX, &mut task).await.is_err() {
                task.abort();
            }
        }
        let path = self.directory.path().to_owned();
        if let Err(error) = self.directory.close() {
            tracing::warn!(%error, path = %path.display(), "the temporary directory could not be removed");
        }
    }
}

/// Where the tool lies in the repository.
pub fn project_path() -> String {
    format!("tools/{TOOL}")
}

/// The branch that the organisation's tools are published from.
pub fn branch() -> String {
    format!("releases/{ORGANIZATION}")
}
