//! The main of a runner process, `lathe internal run`. Its socket is its standard input.

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use parking_lot::Mutex;
use registry::Digest;
use tokio::net::UnixStream;
use tokio::runtime;
use tokio::task::AbortHandle;
use wasmtime::Store;

use super::confinement;
use super::http_exchanges::HttpExchanges;
use super::layer::Confinement;
use super::mailbox::{MESSAGE_BYTES_MAX, Mailbox, send_all};
use super::messages::{FromRunner, RunNumber, ToRunner};
use crate::sandbox::frames::{FrameError, FramedSocket};
use crate::sandbox::guest_runtime::GuestRuntime;
use crate::sandbox::host::Host;
use crate::sandbox::memory_reuse::Pagemap;
use crate::sandbox::wiping::wipe_freed_memory;
use crate::{CodeBundle, Error, EventDocument, Executed, Execution, Ports};

/// Name in lists of processes.
pub(super) const NAME: &CStr = c"lathe-runner";

/// Runs what the server sends until the server closes the socket.
///
/// # Errors
/// When the process cannot confine itself, or receives a malformed message.
pub fn child_run_main() -> io::Result<()> {
    wipe_freed_memory();
    // SAFETY: this is the beginning of the program, which has opened nothing.
    unsafe { confinement::close_inherited() }?;
    confinement::ignore_stops()?;
    // The parent may limit file sizes. A runner writes to files in memory only: the images of guests' memories.
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE)?;
    setrlimit(Resource::RLIMIT_FSIZE, most, most)?;
    let socket = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (confinement, pagemap) = confinement::confine(NAME)?;
    runtime
        .block_on(async { serve(UnixStream::from_std(socket)?, confinement, pagemap).await })
        .map_err(io::Error::other)
}

async fn serve(socket: UnixStream, confinement: Confinement, pagemap: Option<Pagemap>) -> Result<(), FrameError> {
    let mut socket = FramedSocket::accepting_descriptors(socket);
    let (mailbox, queue) = Mailbox::new();
    let Some(ToRunner::Settings { parallel_runs_max }) = socket.receive_message(MESSAGE_BYTES_MAX).await? else {
        return Ok(()); // the server closed the socket
    };
    let guests = GuestRuntime::new(parallel_runs_max, None, pagemap).map_err(io::Error::other)?;
    let stream = socket.stream();
    tokio::spawn(async move { send_all(&stream, queue).await });
    mailbox.post(&FromRunner::Ready { confinement })?;
    let mut runner = Runner {
        guests: Arc::new(guests),
        exchanges: HttpExchanges::new(mailbox.clone()),
        mailbox,
        deferred: DeferredDrop::default(),
        bundles: HashMap::new(),
        runs: HashMap::new(),
    };
    while let Some(message) = socket.receive_message(MESSAGE_BYTES_MAX).await? {
        runner.handle(message, &mut socket);
    }
    Ok(())
}

struct Runner {
    guests: Arc<GuestRuntime>,
    mailbox: Mailbox,
    exchanges: HttpExchanges,
    deferred: DeferredDrop,
    bundles: HashMap<Digest, CodeBundle>,
    runs: HashMap<RunNumber, AbortHandle>,
}

impl Runner {
    fn handle(&mut self, message: ToRunner, socket: &mut FramedSocket) {
        match message {
            ToRunner::Settings { .. } => {} // a process keeps its first settings
            ToRunner::Load { component, bytes } => self.load(&component, socket, bytes),
            ToRunner::Keep { bundle, bytes } => drop(self.bundles.insert(*bundle.digest(), bundle.with_bytes(bytes.0))),
            ToRunner::Forget => {
                self.bundles.clear();
                self.guests.components.forget();
            }
            ToRunner::Run { run, execution } => self.run(run, execution),
            ToRunner::HttpAnswer { run, exchange, result } => self.exchanges.answer(run, exchange, result),
            ToRunner::Cancel { run } => {
                if let Some(task) = self.runs.remove(&run) {
                    task.abort();
                    self.deferred.clear(); // may hold the cancelled run's store
                }
            }
        }
    }

    /// Loads a component. A failure is logged by the server, and fails each run of the component.
    fn load(&self, component: &Digest, socket: &mut FramedSocket, bytes: u64) {
        let loaded = match socket.take_descriptor() {
            // SAFETY: the server sends code that it has verified, sealed or in a directory where files never change.
            Some(code) => unsafe { self.guests.components.load(component, &File::from(code), bytes) },
            None => Err(Error::internal("the message came without a file")),
        };
        if let Err(error) = loaded {
            log(&format!("{component} does not load: {error}"));
        }
    }

    fn run(&mut self, run: RunNumber, mut execution: Box<Execution>) {
        let Some(bundle) = self.bundles.get(execution.code.bundle.digest()) else {
            return end(&self.mailbox, run, Err("the server did not send the run's bundle".into()));
        };
        execution.code.bundle = bundle.clone();
        let (guests, mailbox, deferred) = (self.guests.clone(), self.mailbox.clone(), self.deferred.clone());
        let ports = Ports { events: build_event_sink(self.mailbox.clone(), run), http: self.exchanges.of(run) };
        let task = tokio::spawn(async move {
            // Returns the memory of the run before, so that this run can reuse it.
            deferred.clear();
            let executed = AssertUnwindSafe(Box::pin(guests.execute(execution, ports))).catch_unwind().await;
            let panicked = || (Err(Error::internal("the host's side of the run panicked")), None);
            let (executed, store) = executed.unwrap_or_else(|_| panicked());
            end(&mailbox, run, executed.map_err(|error| error.to_string()));
            deferred.replace(store);
            // The answer is sent before the store is dropped, unless another run begins first.
            tokio::task::yield_now().await;
            deferred.clear();
        });
        self.runs.retain(|_, task| !task.is_finished());
        self.runs.insert(run, task.abort_handle());
    }
}

/// Store of the last run, dropped after the run's answer was sent, since dropping takes time. Clones share the store.
#[derive(Clone, Default)]
struct DeferredDrop(Arc<Mutex<Option<Store<Host>>>>);

impl DeferredDrop {
    /// Drops the store held so far, and holds another one.
    fn replace(&self, store: Option<Store<Host>>) {
        let before = std::mem::replace(&mut *self.0.lock(), store);
        // A panic while a store is dropped must not fail the run that clears it.
        drop(std::panic::catch_unwind(AssertUnwindSafe(|| drop(before))));
    }

    fn clear(&self) {
        self.replace(None);
    }
}

fn build_event_sink(mailbox: Mailbox, run: RunNumber) -> crate::EventSink {
    // The documents were parsed from JSON and are small, so neither step fails.
    Box::new(move |document| match document {
        EventDocument::Status(document) => {
            if let Ok(document) = serde_json::to_string(&document) {
                drop(mailbox.post(&FromRunner::Event { run, document }));
            }
        }
        EventDocument::Log(document) => {
            if let Ok(document) = serde_json::to_string(&document) {
                drop(mailbox.post(&FromRunner::Log { run, document }));
            }
        }
    })
}

fn end(mailbox: &Mailbox, run: RunNumber, executed: Result<Executed, String>) {
    if let Err(error) = mailbox.post(&FromRunner::Ended { run, executed: Box::new(executed) }) {
        let executed = Box::new(Err(error.to_string()));
        drop(mailbox.post(&FromRunner::Ended { run, executed }));
    }
}

/// Writes a line for the server's log.
fn log(line: &str) {
    // Fails only when the server is gone.
    let _ = writeln!(io::stderr(), "{line}");
}
