//! A package index that takes its time: whoever asks it waits until it is opened. So a publish can be held in the
//! middle for exactly as long as a test needs.

use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than a build takes to come here on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Gate {
    pub url: String,
    waiting: Mutex<Receiver<TcpStream>>,
}

/// Somebody who waits; dropping it sends them away without an answer.
pub struct Held {
    _stream: TcpStream,
}

impl Gate {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/simple", listener.local_addr().expect("an address"));
        let (arrivals, waiting) = channel();
        // Ends with the process, or when nobody asks who waits any more.
        std::thread::spawn(move || listener.incoming().flatten().try_for_each(|stream| arrivals.send(stream)));
        Self { url, waiting: Mutex::new(waiting) }
    }

    /// Waits until somebody asks.
    pub fn held(&self) -> Held {
        let waiting = self.waiting.lock().expect("no test panics here");
        Held { _stream: waiting.recv_timeout(PATIENCE).expect("a build comes here") }
    }

    /// Sends away everybody who asks again.
    pub fn turn_away_while<T>(&self, mut done: impl FnMut() -> Option<T>) -> T {
        let waiting = self.waiting.lock().expect("no test panics here");
        loop {
            if let Some(done) = done() {
                return done;
            }
            drop(waiting.recv_timeout(Duration::from_millis(10)));
        }
    }
}
