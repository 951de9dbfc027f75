//! A package index that does not answer until a test lets it, so that a publication stops in the middle for exactly as
//! long as the test needs.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use parking_lot::Mutex;

use crate::harness::{PATIENCE, is_registry_check};

pub struct HeldIndex {
    pub url: String,
    waiting: Mutex<Receiver<TcpStream>>,
}

/// A client that waits. Dropping it closes the connection without a response.
pub struct Held {
    _stream: TcpStream,
}

impl HeldIndex {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/simple", listener.local_addr().expect("an address"));
        let (arrivals, waiting) = channel();
        // The thread ends with the process, or when the index is dropped.
        std::thread::spawn(move || {
            let mut builds = listener.incoming().flatten().filter(|stream| !is_registry_check(stream));
            builds.try_for_each(|stream| arrivals.send(stream))
        });
        Self { url, waiting: Mutex::new(waiting) }
    }

    /// Waits for the next client.
    pub fn held(&self) -> Held {
        let waiting = self.waiting.lock();
        Held { _stream: waiting.recv_timeout(PATIENCE).expect("a build comes here") }
    }

    /// Closes the connections of further clients until `done` returns a value.
    pub fn turn_away_while<T>(&self, mut done: impl FnMut() -> Option<T>) -> T {
        let waiting = self.waiting.lock();
        loop {
            if let Some(done) = done() {
                return done;
            }
            drop(waiting.recv_timeout(Duration::from_millis(10)));
        }
    }
}
