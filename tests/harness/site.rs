//! A web site on loopback for tools to ask, plain or with TLS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(60);

/// What it answers, by path: `/echo`, `/status/{code}`, `/redirect`, `/wait/{ms}`, `/bytes/{count}`, `/endless`, `/drip`,
/// `/headers/{count}`, `/garbage`, `/silent`, `/short`, `/zip`, `/cookie`, `/receipt`.
pub struct Site {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    departures: Arc<AtomicUsize>,
    /// In PEM, when it speaks TLS.
    pub certificate: Option<String>,
}

impl Site {
    pub fn serve() -> Self {
        Self::start(None, None)
    }

    /// With a certificate for `localhost` that it signed itself.
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
        let [connections, departures] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let (counted, gone) = (connections.clone(), departures.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let (tls, gone) = (tls.clone(), gone.clone());
                std::thread::spawn(move || {
                    let answered = match tls {
                        None => answer(stream),
                        Some(tls) => {
                            let connection = ServerConnection::new(tls).expect("a connection");
                            answer(StreamOwned::new(connection, stream))
                        }
                    };
                    // A client that goes away early hurts nobody.
                    gone.fetch_add(usize::from(answered.is_none()), Ordering::SeqCst);
                });
            }
        });
        Self { address, connections, departures, certificate }
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

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How often somebody was gone before the answer was.
    pub fn departures(&self) -> usize {
        self.departures.load(Ordering::SeqCst)
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

fn answer(mut stream: impl Read + Write) -> Option<()> {
    let asked = asked(&mut stream)?;
    let (what, number) = asked.path[1..].split_once('/').unwrap_or((&asked.path[1..], "0"));
    let number: usize = number.parse().unwrap_or(0);
    match what {
        "status" => whole(&mut stream, number, "", b""),
        "redirect" => whole(&mut stream, 302, "location: http://169.254.169.254/latest\r\n", b""),
        "wait" => {
            std::thread::sleep(Duration::from_millis(number as u64));
            whole(&mut stream, 200, "", b"waited")
        }
        "bytes" => whole(&mut stream, 200, "", &vec![b'x'; number]),
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
            std::thread::sleep(FOREVER);
            None
        }
        "receipt" => {
            whole(&mut stream, 201, "set-cookie: sid=canary-of-a-cookie\r\nx-order: 7\r\n", b"canary of an order")
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
