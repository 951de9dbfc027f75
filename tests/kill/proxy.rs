//! A proxy before Postgres that can lose the answers of commits: the client does not learn that its transaction is durable.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes in one step.
const BUFFER_BYTES: usize = 64 * 1024;

/// Forwards connections as long as the tests run.
pub struct Proxy {
    port: u16,
    /// Commits whose answers will be lost.
    to_lose: Arc<AtomicUsize>,
}

impl Proxy {
    pub fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("an address").port();
        let to_lose = Arc::new(AtomicUsize::new(0));
        let shared = to_lose.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // Without a server, the connection ends.
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                forward(&Pair { client, server, is_lost: Arc::default() }, shared.clone());
            }
        });
        Self { port: own, to_lose }
    }

    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Loses the answers of the next commits, and their connections.
    pub fn lose_commits(&self, count: usize) {
        self.to_lose.store(count, Ordering::SeqCst);
    }
}

/// A connection of a client, and its connection to the server.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    /// Whether the next answer is lost.
    is_lost: Arc<AtomicBool>,
}

impl Pair {
    fn another(&self) -> Self {
        let Self { client, server, is_lost } = self;
        let copy = |stream: &TcpStream| stream.try_clone().expect("another descriptor");
        Self { client: copy(client), server: copy(server), is_lost: is_lost.clone() }
    }

    fn end(&self) {
        // One of them may have ended.
        let _ = (self.client.shutdown(Shutdown::Both), self.server.shutdown(Shutdown::Both));
    }
}

fn forward(pair: &Pair, to_lose: Arc<AtomicUsize>) {
    let (requests, answers) = (pair.another(), pair.another());
    std::thread::spawn(move || {
        copy(&requests.client, &requests.server, |bytes| {
            let is_commit = bytes.windows(COMMIT.len()).any(|window| window == COMMIT);
            let lose = |left: usize| left.checked_sub(1);
            if is_commit && to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lose).is_ok() {
                requests.is_lost.store(true, Ordering::SeqCst);
            }
            true
        });
        requests.end();
    });
    std::thread::spawn(move || {
        // An answer says that the server has committed.
        copy(&answers.server, &answers.client, |_| !answers.is_lost.load(Ordering::SeqCst));
        answers.end();
    });
}

/// The statement in a request. It is always sent as text.
const COMMIT: &[u8] = b"COMMIT";

/// Copies until the end of a connection, or until a step is refused.
fn copy(mut from: &TcpStream, mut to: &TcpStream, mut may_pass: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let Ok(read @ 1..) = from.read(&mut buffer) else { return };
        if !may_pass(&buffer[..read]) || to.write_all(&buffer[..read]).is_err() {
            return;
        }
    }
}
