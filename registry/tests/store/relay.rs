//! A relay before a database server, whose host can vanish: nothing is received from it any more, not even the end of a
//! connection, as after a loss of power or in a network that drops packets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes in one step.
const BUFFER_BYTES: usize = 64 * 1024;

pub struct Relay {
    address: SocketAddr,
    path: Arc<Path>,
}

/// The way to the server. Its number is odd while nothing passes. A connection is of the way on which it began.
struct Path {
    number: AtomicU64,
    server: String,
}

impl Path {
    fn is_open(&self, number: u64) -> bool {
        number.is_multiple_of(2) && self.number.load(Ordering::SeqCst) == number
    }
}

impl Relay {
    /// A relay before the server of a URL. It works as long as the tests.
    pub fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let path = Arc::new(Path { number: AtomicU64::new(0), server: host_of(url).to_owned() });
        let shared = path.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                forward(client, &shared);
            }
        });
        Self { address, path }
    }

    /// The URL with this relay in the place of its server.
    pub fn url(&self, url: &str) -> String {
        url.replacen(host_of(url), &self.address.to_string(), 1)
    }

    /// Lets the host vanish.
    pub fn vanish(&self) {
        self.path.number.fetch_or(1, Ordering::SeqCst);
    }

    /// Lets new connections pass. Those from before stay silent.
    pub fn return_on_another_path(&self) {
        self.path.number.fetch_add(1, Ordering::SeqCst);
    }
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once('@').expect("a user").1;
    rest.split(['/', '?']).next().expect("a host")
}

fn forward(client: TcpStream, path: &Arc<Path>) {
    let number = path.number.load(Ordering::SeqCst);
    // While the host is away, the client waits for an answer to its first bytes.
    let server = TcpStream::connect(&path.server);
    let Ok(server) = server else { return };
    let ends = Arc::new((client, server));
    for is_request in [true, false] {
        let (ends, path) = (ends.clone(), path.clone());
        std::thread::spawn(move || {
            let (client, server) = &*ends;
            let (from, to) = if is_request { (client, server) } else { (server, client) };
            copy(from, to, || path.is_open(number));
            if path.is_open(number) {
                let _ = (client.shutdown(std::net::Shutdown::Both), server.shutdown(std::net::Shutdown::Both));
            } else {
                // Neither side hears that the other one is gone.
                std::mem::forget(ends);
            }
        });
    }
}

/// Copies until one side closes, or until nothing passes any more.
fn copy(mut from: &TcpStream, mut to: &TcpStream, is_open: impl Fn() -> bool) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(bytes @ 1..) = from.read(&mut buffer) {
        if !is_open() || to.write_all(&buffer[..bytes]).is_err() {
            return;
        }
    }
}
