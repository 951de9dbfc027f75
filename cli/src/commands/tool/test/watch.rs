//! `lathe tool test --watch`: tests a directory whenever one of its files changes.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use builder::directory;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use registry::Clock;
use tokio::sync::Notify;

use super::local::{LocalTester, list_folders};
use super::report;
use crate::failure::Outcome;
use crate::output::{Screen, print_verbatim};
use crate::server::Signals;

/// Silence after which a change is complete. Editors write a file in several steps, some milliseconds apart.
const QUIET_TIME: Duration = Duration::from_millis(30);
/// Maximum time to wait for silence.
const QUIET_WAIT_MAX: Duration = Duration::from_secs(1);
/// Interval between checks for a missing directory.
const MISSING_RETRY: Duration = Duration::from_secs(1);

/// Clears a terminal with its scroll-back, so that only the present round is visible.
const CLEAR: &str = "\u{1b}[2J\u{1b}[3J\u{1b}[H";

/// Events that can change the contents of a directory.
const CHANGES: AddWatchFlags = AddWatchFlags::IN_CLOSE_WRITE
    .union(AddWatchFlags::IN_MODIFY)
    .union(AddWatchFlags::IN_CREATE)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVE)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF);

pub async fn run(tester: &LocalTester, screen: Screen) -> anyhow::Result<Outcome> {
    let mut signals = Signals::catch().context("catching Ctrl-C")?;
    tokio::select! {
        _ = signals.next() => Ok(Outcome::Done),
        ended = run_rounds(tester, screen) => ended,
    }
}

async fn run_rounds(tester: &LocalTester, screen: Screen) -> anyhow::Result<Outcome> {
    let watcher = Watcher::new().context("watching files")?;
    let mut tested = None;
    loop {
        // Watches before the files are read, so that no change is missed.
        let is_there = watcher.watch(&list_folders(&tester.root));
        let files = directory::read(&tester.root);
        let found = files.as_ref().map(Clone::clone).map_err(ToString::to_string);
        if tested.as_ref() != Some(&found) {
            tested = Some(found);
            clear(screen)?;
            let round = tester.test(files).await;
            report::show_one_of_many(screen, &round)?;
            screen.note(format!("{}  watching {}; stop with Ctrl-C", render_time_of_day(), tester.root.display()));
        }
        if is_there {
            watcher.wait_for_change().await;
        } else {
            tokio::time::sleep(MISSING_RETRY).await;
        }
    }
}

/// Clears the terminal. A pipe and a JSON document get every round.
fn clear(screen: Screen) -> anyhow::Result<()> {
    if screen.is_json() || !std::io::stdout().is_terminal() { Ok(()) } else { print_verbatim(CLEAR) }
}

/// The time of day, such as `09:41:07 UTC`.
fn render_time_of_day() -> String {
    let now = Clock::system().now().to_string();
    let time = now.split(['T', '.']).nth(1).unwrap_or_default().to_owned();
    format!("{time} UTC")
}

/// Changes of watched directories, from inotify.
struct Watcher {
    inotify: Arc<Inotify>,
    changed: Arc<Notify>,
}

impl Watcher {
    fn new() -> anyhow::Result<Self> {
        let inotify = Arc::new(Inotify::init(InitFlags::IN_CLOEXEC)?);
        let watcher = Self { inotify, changed: Arc::default() };
        let (inotify, changed) = (watcher.inotify.clone(), watcher.changed.clone());
        // The thread waits for events and ends with the process.
        std::thread::Builder::new().name("watch".into()).spawn(move || {
            while inotify.read_events().is_ok() {
                changed.notify_one();
            }
        })?;
        Ok(watcher)
    }

    /// Watches directories, besides those that are watched already. Returns whether the first one exists.
    fn watch(&self, folders: &[PathBuf]) -> bool {
        let is_watched = |folder: &PathBuf| self.inotify.add_watch(folder, CHANGES).is_ok();
        let watched: Vec<bool> = folders.iter().map(is_watched).collect();
        watched.first().copied().unwrap_or(false)
    }

    /// Waits for a change, then for silence, at most [`QUIET_WAIT_MAX`].
    async fn wait_for_change(&self) {
        self.changed.notified().await;
        let changes = async { while tokio::time::timeout(QUIET_TIME, self.changed.notified()).await.is_ok() {} };
        // A timeout means that files still change; they are tested as they are.
        let _ = tokio::time::timeout(QUIET_WAIT_MAX, changes).await;
    }
}
