//! An endpoint for embeddings on loopback, which knows a few words that mean the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

/// Words that mean the same.
const MEANINGS: [&[&str]; 3] = [&["car", "automobile", "vehicle"], &["invoice", "bill"], &["holiday", "vacation"]];
/// Numbers of a vector: one for each meaning, and others for texts without any.
const DIMENSIONS: usize = 64;
/// Longer than any client waits.
const SILENCE: Duration = Duration::from_secs(60);

/// The way in which the endpoint answers requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers, and refuses requests with a text that contains `poison`.
    Answers,
    /// Answers with a status.
    Refuses(u16),
    /// Answers with something else.
    AnswersOtherJson,
    /// Answers without an end.
    AnswersWithoutEnd,
    StaysSilent,
}

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The request line and the headers.
    pub head: Vec<String>,
    pub body: Value,
}

pub struct EmbeddingEndpoint {
    address: SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.iter().filter_map(|line| line.split_once(": "));
        headers.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl EmbeddingEndpoint {
    pub fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (behaviour, received) = (Arc::new(Mutex::new(Behaviour::Answers)), Arc::<Mutex<Vec<Received>>>::default());
        let shared = (behaviour.clone(), received.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behaviour, received) = shared.clone();
                std::thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    received.lock().push(request.clone());
                    let behaviour = *behaviour.lock();
                    // The client may be gone.
                    let _ = answer(stream, behaviour, &request.body);
                });
            }
        });
        Self { address, behaviour, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1/embeddings", self.address)
    }

    pub fn behaves(&self, behaviour: Behaviour) {
        *self.behaviour.lock() = behaviour;
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }
}

/// Reads a request with a body in JSON.
pub(super) fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut request = Received { head: Vec::new(), body: Value::Null };
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        request.head.push(line.trim().to_owned());
    }
    let mut body = vec![0; request.header("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    request.body = serde_json::from_slice(&body).ok()?;
    Some(request)
}

fn answer(mut stream: TcpStream, behaviour: Behaviour, body: &Value) -> std::io::Result<()> {
    let texts: Vec<&str> = body["input"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_poisoned = texts.iter().any(|text| text.contains("poison"));
    match behaviour {
        Behaviour::Answers if is_poisoned => whole(&mut stream, 400, "", "{}"),
        Behaviour::Answers => {
            // The order is not that of the texts.
            let data = texts
                .iter()
                .enumerate()
                .rev()
                .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}));
            let body = json!({"object": "list", "data": data.collect::<Vec<_>>(), "model": body["model"]});
            whole(&mut stream, 200, "", &body.to_string())
        }
        Behaviour::Refuses(status) => whole(&mut stream, status, "", "{}"),
        Behaviour::AnswersOtherJson => whole(&mut stream, 200, "", "{\"data\": \"none\"}"),
        Behaviour::AnswersWithoutEnd => {
            stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"data\": [",
            )?;
            loop {
                stream.write_all(&[b' '; 64 * 1024])?;
            }
        }
        Behaviour::StaysSilent => {
            std::thread::sleep(SILENCE);
            Ok(())
        }
    }
}

/// Writes a response in JSON, with further lines of the head.
pub(super) fn whole(stream: &mut TcpStream, status: u16, lines: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} S\r\n{lines}content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for (number, words) in MEANINGS.iter().enumerate() {
        if words.iter().any(|word| text.contains(word)) {
            vector[number] = 1.0;
        }
    }
    if vector.iter().all(|number| *number == 0.0) {
        let sum: usize = text.bytes().map(usize::from).sum();
        vector[MEANINGS.len() + sum % (DIMENSIONS - MEANINGS.len())] = 1.0;
    }
    vector
}
