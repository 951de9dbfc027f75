//! A Postgres database and a bucket that servers share.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::cluster::Cluster;
use super::{Bucket, Options, Server};

/// Bytes of one read of a [`Gate`].
const CHUNK_BYTES: usize = 64 * 1024;

pub struct SharedPlace {
    pub bucket: Bucket,
    pub cluster: Cluster,
}

impl SharedPlace {
    /// Starts a database and creates a bucket. `None` on a machine without one of them.
    #[track_caller]
    pub fn new() -> Option<Self> {
        Some(Self { bucket: Bucket::create()?, cluster: Cluster::start()? })
    }

    /// Starts a server with an empty data directory.
    pub fn start(&self) -> Arc<Server> {
        Server::private(&self.options(self.bucket.variables()))
    }

    /// Starts a server whose uploads of packs can be held.
    pub fn start_held(&self) -> (Arc<Server>, Gate) {
        let mut variables = self.bucket.variables();
        let endpoint = variables.iter_mut().find(|(name, _)| name == "AWS_ENDPOINT_URL").expect("an endpoint");
        let gate = Gate::before(&endpoint.1);
        endpoint.1 = format!("http://{}", gate.address);
        (Server::private(&self.options(variables)), gate)
    }

    /// Starts a server with further arguments.
    pub fn start_with(&self, arguments: &[&str]) -> Arc<Server> {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        self.start_as(&Options { arguments, ..Options::default() })
    }

    /// Starts a server with further options, which may name another way to the database.
    pub fn start_as(&self, more: &Options) -> Arc<Server> {
        let Options { database, arguments, environment, .. } = self.options(self.bucket.variables());
        let arguments = [arguments, more.arguments.clone()].concat();
        let database = more.database.clone().or(database);
        Server::private(&Options { database, arguments, environment, ..more.clone() })
    }

    fn options(&self, environment: Vec<(String, String)>) -> Options {
        let arguments = vec!["--storage".to_owned(), self.bucket.url()];
        Options { database: Some(self.cluster.url("postgres")), arguments, environment, ..Options::default() }
    }
}

/// When a [`Gate`] holds an upload of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Nothing,
    /// Before the service receives the request.
    Before,
    /// After the service has stored the pack, and before the server gets the response.
    After,
}

/// A proxy before the S3 server.
pub struct Gate {
    address: SocketAddr,
    state: Arc<GateState>,
}

struct GateState {
    hold: Mutex<(Hold, usize)>,
    changed: Condvar,
    upstream: String,
}

impl Gate {
    fn before(endpoint: &str) -> Self {
        let upstream = endpoint.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(GateState { hold: Mutex::new((Hold::Nothing, 0)), changed: Condvar::new(), upstream });
        let of = state.clone();
        // Ends with the tests.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = of.clone();
                std::thread::spawn(move || state.serve(&client));
            }
        });
        Self { address, state }
    }

    /// Holds the next uploads.
    pub fn hold(&self, when: Hold) {
        *self.state.hold.lock() = (when, 0);
    }

    /// Waits until an upload is held.
    pub fn wait(&self) {
        let mut hold = self.state.hold.lock();
        while hold.1 == 0 {
            self.state.changed.wait(&mut hold);
        }
    }

    /// Lets held uploads go on.
    pub fn release(&self) {
        *self.state.hold.lock() = (Hold::Nothing, 0);
        self.state.changed.notify_all();
    }
}

impl GateState {
    fn serve(&self, client: &TcpStream) {
        let Ok(service) = TcpStream::connect(&self.upstream) else { return };
        let uploads = Mutex::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                copy(client, &service, |chunk| {
                    let text = String::from_utf8_lossy(&chunk[..chunk.len().min(400)]);
                    let line = text.lines().next().unwrap_or_default();
                    if line.ends_with("HTTP/1.1") {
                        let is_upload = line.starts_with("PUT ") && line.contains("/git/");
                        *uploads.lock() = is_upload;
                        self.pass(Hold::Before, is_upload);
                    }
                });
            });
            copy(&service, client, |_| self.pass(Hold::After, *uploads.lock()));
        });
    }

    /// Waits while this is the time to hold an upload.
    fn pass(&self, when: Hold, is_upload: bool) {
        let mut hold = self.hold.lock();
        if is_upload && hold.0 == when {
            hold.1 += 1;
            self.changed.notify_all();
        }
        while is_upload && hold.0 == when {
            self.changed.wait(&mut hold);
        }
    }
}

/// Copies until one side closes, and closes the other.
fn copy(mut from: &TcpStream, mut to: &TcpStream, mut before: impl FnMut(&[u8])) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(bytes @ 1..) = from.read(&mut chunk) {
        before(&chunk[..bytes]);
        if to.write_all(&chunk[..bytes]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
    let _ = from.shutdown(std::net::Shutdown::Both);
}
