//! Tests a directory again whenever one of its files changes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use builder::directory;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tokio::sync::Notify;

use super::local::{Bench, folders};
use super::report;
use crate::failure::Outcome;
use crate::output::Screen;
use crate::server::Signals;

/// An editor writes a file in several steps, some milliseconds apart.
const QUIET: Duration = Duration::from_millis(30);
/// A project that never rests is tested all the same.
const UNREST_MAX: Duration = Duration::from_secs(1);
/// How often a directory is looked for that is not there.
const MISSING_RETRY: Duration = Duration::from_secs(1);

/// Everything that can change what is in a directory.
const CHANGES: AddWatchFlags = AddWatchFlags::IN_CLOSE_WRITE
    .union(AddWatchFlags::IN_MODIFY)
    .union(AddWatchFlags::IN_CREATE)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVE)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF);

pub async fn run(bench: &Bench, screen: Screen) -> anyhow::Result<Outcome> {
    let mut signals = Signals::catch().context("catching Ctrl-C")?;
    tokio::select! {
        _ = signals.next() => Ok(Outcome::Done),
        ended = rounds(bench, screen) => ended,
    }
}

async fn rounds(bench: &Bench, screen: Screen) -> anyhow::Result<Outcome> {
    let watcher = Watcher::new().context("watching files")?;
    let mut tested = None;
    loop {
        // Before the files are read, so that no change is missed.
        let is_there = watcher.cover(&folders(&bench.root));
        let files = directory::read(&bench.root);
        let found = files.as_ref().map(Clone::clone).map_err(ToString::to_string);
        if tested.as_ref() != Some(&found) {
            tested = Some(found);
            let round = bench.round(files).await;
            report::part(screen, &round)?;
            screen.note(format!("watching {}; Ctrl-C ends it", bench.root.display()));
        }
        if is_there {
            watcher.change().await;
        } else {
            tokio::time::sleep(MISSING_RETRY).await;
        }
    }
}

/// The kernel's word on changed files.
struct Watcher {
    inotify: Arc<Inotify>,
    changed: Arc<Notify>,
}

impl Watcher {
    fn new() -> anyhow::Result<Self> {
        let inotify = Arc::new(Inotify::init(InitFlags::IN_CLOEXEC)?);
        let watcher = Self { inotify, changed: Arc::default() };
        let (inotify, changed) = (watcher.inotify.clone(), watcher.changed.clone());
        // It waits in the kernel, and ends with the program.
        std::thread::Builder::new().name("watch".into()).spawn(move || {
            while inotify.read_events().is_ok() {
                changed.notify_one();
            }
        })?;
        Ok(watcher)
    }

    /// Watches these directories, too; those that are watched already stay so. Whether the first one is there.
    fn cover(&self, folders: &[PathBuf]) -> bool {
        let watch = |folder: &PathBuf| self.inotify.add_watch(folder, CHANGES).is_ok();
        let watched: Vec<bool> = folders.iter().map(watch).collect();
        watched.first().copied().unwrap_or(false)
    }

    /// Waits for a change, and until its writer rests.
    async fn change(&self) {
        self.changed.notified().await;
        let unrest = async { while tokio::time::timeout(QUIET, self.changed.notified()).await.is_ok() {} };
        // Unrest without an end is no reason to wait.
        let _ = tokio::time::timeout(UNREST_MAX, unrest).await;
    }
}
