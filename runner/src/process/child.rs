//! A runner: the main of `lathe internal run`. Its socket is its standard input.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use registry::Digest;
use tokio::net::UnixStream;
use tokio::runtime;
use tokio::task::AbortHandle;
use wasmtime::Store;

use super::confinement::{self, Confinement};
use super::exchanges::Exchanges;
use super::frames::{FrameError, Mailbox, Reader, send_all};
use super::messages::{BundleNumber, FromRunner, RunNumber, ToRunner};
use crate::host::Host;
use crate::sandbox::Guests;
use crate::slots::Pagemap;
use crate::{Error, Executed, Execution, Ports, StatusDocument};

/// The child: runs what it is told to until its server closes the socket.
///
/// # Errors
/// When it cannot confine itself, or what comes is no message.
pub fn child_run_main() -> io::Result<()> {
    // SAFETY: this is the beginning of the program, which has opened nothing.
    unsafe { confinement::close_inherited() }?;
    confinement::ignore_stops()?;
    // A runner writes to no file but such as are memory: the memory that its guests begin with.
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE)?;
    setrlimit(Resource::RLIMIT_FSIZE, most, most)?;
    let socket = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (confinement, pagemap) = confinement::confine()?;
    runtime
        .block_on(async { serve(UnixStream::from_std(socket)?, confinement, pagemap).await })
        .map_err(io::Error::other)
}

async fn serve(socket: UnixStream, confinement: Confinement, pagemap: Option<Pagemap>) -> Result<(), FrameError> {
    let socket = Arc::new(socket);
    let (mailbox, queue) = Mailbox::new();
    let mut reader = Reader::new(socket.clone(), true);
    let Some(ToRunner::Settings { parallel_runs_max }) = reader.next().await? else {
        return Ok(()); // the server has changed its mind
    };
    let guests = Guests::new(parallel_runs_max, None, pagemap).map_err(io::Error::other)?;
    tokio::spawn(async move { send_all(&socket, queue).await });
    mailbox.post(&FromRunner::Ready { confinement })?;
    let mut runner = Runner {
        guests: Arc::new(guests),
        exchanges: Exchanges::new(mailbox.clone()),
        mailbox,
        remains: Remains::default(),
        bundles: HashMap::new(),
        runs: HashMap::new(),
    };
    while let Some(message) = reader.next().await? {
        runner.take(message, &mut reader);
    }
    Ok(())
}

struct Runner {
    guests: Arc<Guests>,
    mailbox: Mailbox,
    exchanges: Exchanges,
    remains: Remains,
    bundles: HashMap<BundleNumber, Arc<[u8]>>,
    runs: HashMap<RunNumber, AbortHandle>,
}

impl Runner {
    fn take(&mut self, message: ToRunner, reader: &mut Reader) {
        match message {
            ToRunner::Settings { .. } => {} // there is one engine in a process
            ToRunner::Load { component, bytes } => self.load(&component, reader, bytes),
            ToRunner::Keep { bundle, bytes } => drop(self.bundles.insert(bundle, bytes.0)),
            ToRunner::Forget => {
                self.bundles.clear();
                self.guests.components.forget();
            }
            ToRunner::Run { run, bundle, execution } => self.run(run, bundle, execution),
            ToRunner::HttpAnswer { run, exchange, result } => self.exchanges.answer(run, exchange, result),
            ToRunner::Cancel { run } => {
                if let Some(task) = self.runs.remove(&run) {
                    task.abort();
                    self.remains.clear(); // perhaps its own
                }
            }
        }
    }

    /// Runs of code that does not load say so themselves; why it does not is for the server's log.
    fn load(&self, component: &Digest, reader: &mut Reader, bytes: u64) {
        let loaded = match reader.descriptor() {
            // SAFETY: the server hands over what it has verified, sealed or in a directory where files never change.
            Some(code) => unsafe { self.guests.components.load(component, &File::from(code), bytes) },
            None => Err(Error::internal("no file came with the message")),
        };
        if let Err(error) = loaded {
            log(&format!("{component} does not load: {error}"));
        }
    }

    fn run(&mut self, run: RunNumber, bundle: BundleNumber, mut execution: Box<Execution>) {
        let Some(bytes) = self.bundles.get(&bundle) else {
            return end(&self.mailbox, run, Err("its bundle is not here".into()));
        };
        execution.code.bundle = bytes.clone();
        let (guests, mailbox, remains) = (self.guests.clone(), self.mailbox.clone(), self.remains.clone());
        let ports = Ports { events: events(self.mailbox.clone(), run), http: self.exchanges.of(run) };
        let task = tokio::spawn(async move {
            // Among many runs each has the memory of the one before, which is at hand.
            remains.clear();
            let executed = AssertUnwindSafe(Box::pin(guests.execute(execution, ports))).catch_unwind().await;
            let panicked = || (Err(Error::internal("the host's side of the run panicked")), None);
            let (executed, rest) = executed.unwrap_or_else(|_| panicked());
            end(&mailbox, run, executed.map_err(|error| error.to_string()));
            remains.keep(rest);
            // What was posted leaves first, unless another run begins.
            tokio::task::yield_now().await;
            remains.clear();
        });
        self.runs.retain(|_, task| !task.is_finished());
        self.runs.insert(run, task.abort_handle());
    }
}

/// What the last run has left. Dropping it takes time, and nobody waits for it. Clones are one.
#[derive(Clone, Default)]
struct Remains(Arc<Mutex<Option<Store<Host>>>>);

impl Remains {
    fn keep(&self, rest: Option<Store<Host>>) {
        let before = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), rest);
        // A fault in it is none of whoever runs now.
        drop(std::panic::catch_unwind(AssertUnwindSafe(|| drop(before))));
    }

    fn clear(&self) {
        self.keep(None);
    }
}

fn events(mailbox: Mailbox, run: RunNumber) -> crate::EventSink {
    Box::new(move |document: StatusDocument| {
        // It came as JSON, and is small.
        if let Ok(document) = serde_json::to_string(&document) {
            drop(mailbox.post(&FromRunner::Event { run, document }));
        }
    })
}

fn end(mailbox: &Mailbox, run: RunNumber, executed: Result<Executed, String>) {
    if let Err(error) = mailbox.post(&FromRunner::Ended { run, executed: Box::new(executed) }) {
        let executed = Box::new(Err(error.to_string()));
        drop(mailbox.post(&FromRunner::Ended { run, executed }));
    }
}

/// A line for the server's log.
fn log(line: &str) {
    // Without a server there is nobody to tell.
    let _ = writeln!(io::stderr(), "{line}");
}
