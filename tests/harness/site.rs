//! A web site on loopback for the requests of tools, with or without TLS.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::read::{GzEncoder, ZlibEncoder};
use parking_lot::{Mutex, MutexGuard};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::{Latch, PATIENCE, eventually};

/// The site. It serves `/echo`, `/status/{code}`, `/redirect`, `/wait/{ms}`, `/bytes/{count}`, `/noise/{count}`, `/endless`, `/drip`,
/// `/headers/{count}`, the documents of [`Site::publish`], `/garbage`, `/silent`, `/short`, `/zip`, `/encoded/{encoding}`, `/cookie`, `/receipt`; `/held` once the latch is open;
/// and `/meet/{count}/{name}` once this many requests wait for it.
pub struct Site {
    pub address: SocketAddr,
    /// Holds responses to `/held`.
    pub held: Latch,
    state: Arc<State>,
    /// The certificate in PEM, with TLS only.
    pub certificate: Option<String>,
}

#[derive(Default)]
struct State {
    held: Latch,
    /// Barriers of `/meet`, by path.
    meetings: Mutex<BTreeMap<String, Latch>>,
    /// Addresses of clients, in the order of their connections.
    clients: Mutex<Vec<SocketAddr>>,
    /// Content types and texts of JSON documents, by path.
    documents: Mutex<BTreeMap<String, (String, String)>>,
    /// Method and path of each request, in the order of arrival.
    requests: Mutex<Vec<String>>,
    departures: AtomicUsize,
    /// Requests to `/wait` and `/meet`: the current number and the highest.
    waiting: AtomicUsize,
    waiting_most: AtomicUsize,
}

impl Site {
    pub fn serve() -> Self {
        Self::start(None, None)
    }

    /// A site with TLS and a self-signed certificate for `localhost`.
    pub fn secure() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("versions").with_no_client_auth();
        let config = builder.with_single_cert(vec![made.cert.der().clone()], key).expect("a configuration");
        Self::start(Some(Arc::new(config)), Some(made.cert.pem()))
    }

    fn start(tls: Option<Arc<ServerConfig>>, certificate: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State::default());
        let shared = state.clone();
        std::thread::spawn(move || {
            while let Ok((stream, client)) = listener.accept() {
                shared.clients().push(client);
                let (tls, shared) = (tls.clone(), shared.clone());
                std::thread::spawn(move || {
                    let answered = match tls {
                        None => answer(stream, &shared),
                        Some(tls) => {
                            let connection = ServerConnection::new(tls).expect("a connection");
                            answer(StreamOwned::new(connection, stream), &shared)
                        }
                    };
                    // Clients may disconnect early.
                    shared.departures.fetch_add(usize::from(answered.is_none()), Ordering::SeqCst);
                });
            }
        });
        Self { address, held: state.held.clone(), state, certificate }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self, path: &str) -> String {
        match self.certificate {
            None => format!("http://{}{path}", self.address),
            Some(_) => format!("https://localhost:{}{path}", self.port()),
        }
    }

    /// Serves a document at a path.
    pub fn publish(&self, path: &str, content_type: &str, text: &str) {
        self.state.documents.lock().insert(path.to_owned(), (content_type.to_owned(), text.to_owned()));
    }

    /// Returns the received requests, such as `GET /echo?a=1`, in the order of arrival.
    pub fn requests(&self) -> Vec<String> {
        self.state.requests.lock().clone()
    }

    /// The input of a tool that waits for this site.
    pub fn hold(&self) -> Value {
        json!({"held": self.url("/held")})
    }

    /// Counts the connections before this call. It connects itself: connections are accepted in their order, so its
    /// own is the last.
    pub fn connections(&self) -> usize {
        let last = TcpStream::connect(self.address).expect("a connection").local_addr().expect("an address");
        eventually("the connections before this one", || {
            let mut clients = self.state.clients();
            let place = clients.iter().rposition(|client| *client == last)?;
            clients.remove(place);
            Some(place)
        })
    }

    /// Counts the clients that disconnected before their response was sent.
    pub fn departures(&self) -> usize {
        self.state.departures.load(Ordering::SeqCst)
    }

    /// Returns the highest number of concurrent requests to `/wait` and `/meet`.
    pub fn waiting_most(&self) -> usize {
        self.state.waiting_most.load(Ordering::SeqCst)
    }
}

impl State {
    fn clients(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.clients.lock()
    }

    /// Counts a request while it waits.
    fn waits<T>(&self, wait: impl FnOnce() -> T) -> T {
        let now = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        self.waiting_most.fetch_max(now, Ordering::SeqCst);
        let waited = wait();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        waited
    }

    fn meeting(&self, path: &str) -> Latch {
        self.meetings.lock().entry(path.to_owned()).or_default().clone()
    }
}

struct Asked {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

fn asked(stream: &mut impl Read) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

fn answer(mut stream: impl Read + Write, state: &State) -> Option<()> {
    // A connection without a request gets no response.
    let Some(asked) = asked(&mut stream) else { return Some(()) };
    let request = format!("{} {}", asked.method, asked.path);
    state.requests.lock().push(request);
    let document = state.documents.lock().get(&asked.path).cloned();
    if let Some((content_type, text)) = document {
        return whole(&mut stream, 200, &format!("content-type: {content_type}\r\n"), text.as_bytes());
    }
    let mut parts = asked.path[1..].split('/');
    let what = parts.next().unwrap_or_default();
    let number: usize = parts.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    match what {
        "status" => whole(&mut stream, number, "", b""),
        "redirect" => whole(&mut stream, 302, "location: http://169.254.169.254/latest\r\n", b""),
        "wait" => {
            state.waits(|| std::thread::sleep(Duration::from_millis(number as u64)));
            whole(&mut stream, 200, "", b"waited")
        }
        "held" => {
            state.held.pass();
            whole(&mut stream, 200, "", b"released")
        }
        "meet" => match state.waits(|| state.meeting(&asked.path).pass_together(number)) {
            true => whole(&mut stream, 200, "", b"waited"),
            false => whole(&mut stream, 503, "", b"alone"),
        },
        "bytes" => whole(&mut stream, 200, "", &vec![b'x'; number]),
        "noise" => whole(&mut stream, 200, "", &noise(number)),
        "endless" => endless(&mut stream, Duration::ZERO, &[b'x'; 1 << 16]),
        "drip" => endless(&mut stream, Duration::from_secs(1), b"x"),
        "headers" => whole(&mut stream, 200, &"x: y\r\n".repeat(number), b""),
        "cookie" => whole(
            &mut stream,
            200,
            "set-cookie: session=first; Path=/\r\nset-cookie: elsewhere=no; Path=/only/here\r\n",
            b"",
        ),
        "garbage" => stream.write_all(b"this is no HTTP\r\n\r\n").ok(),
        "short" => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this").ok(),
        "silent" => {
            std::thread::sleep(PATIENCE);
            None
        }
        "receipt" => {
            whole(&mut stream, 201, "set-cookie: sid=canary-of-a-cookie\r\nx-order: 7\r\n", b"canary of an order")
        }
        "encoded" => {
            let encoding = asked.path.rsplit('/').next().unwrap_or_default();
            let headers = format!("content-encoding: {encoding}\r\ncontent-type: text/plain; charset=utf-8\r\n");
            whole(&mut stream, 200, &headers, &encoded(encoding, ENCODED_TEXT.as_bytes()))
        }
        "zip" => whole(&mut stream, 200, "content-encoding: gzip\r\n", b"\x1f\x8b not unpacked"),
        _ => {
            let Asked { method, path, headers, body } = asked;
            let seen = json!({"method": method, "path": path, "headers": headers, "body": body});
            whole(
                &mut stream,
                200,
                "content-type: application/json\r\nx-one: 1\r\nx-one: 2\r\n",
                seen.to_string().as_bytes(),
            )
        }
    }
}

/// The text of `/encoded`.
const ENCODED_TEXT: &str = "{\"greeting\": \"grüße\"}\n";

/// Bytes in an encoding of HTTP. Others than gzip and deflate are only named.
fn encoded(encoding: &str, mut bytes: &[u8]) -> Vec<u8> {
    let (level, mut written) = (Compression::default(), Vec::new());
    let read = match encoding {
        "gzip" => GzEncoder::new(bytes, level).read_to_end(&mut written),
        "deflate" => ZlibEncoder::new(bytes, level).read_to_end(&mut written),
        _ => bytes.read_to_end(&mut written),
    };
    read.expect("bytes in memory");
    written
}

fn whole(stream: &mut impl Write, status: usize, headers: &str, body: &[u8]) -> Option<()> {
    let head =
        format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    stream.flush().ok()
}

fn endless(stream: &mut impl Write, pause: Duration, part: &[u8]) -> Option<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").ok()?;
    loop {
        stream.write_all(part).ok()?;
        stream.flush().ok()?;
        std::thread::sleep(pause);
    }
}

/// Bytes that cannot be compressed, and depend on nothing but their number.
fn noise(number: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ number as u64;
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..number).map(byte).collect()
}
