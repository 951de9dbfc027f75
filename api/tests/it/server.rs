//! The server: bounds of connections, refusals before a whole request, and the shutdown.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use api::{Config, ConnectionLimits, Server};
use registry::Clock;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::TestApp;

/// Ends a test that would wait for ever. No test measures with it.
pub const PATIENCE: Duration = Duration::from_secs(300);

pub struct Running {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<Duration>>,
    served: JoinHandle<()>,
}

pub async fn start(app: &TestApp) -> Running {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.local_address();
    let (stop, stopped) = oneshot::channel::<Duration>();
    let app = app.app.clone();
    let served = tokio::spawn(async move {
        let shutdown = async { stopped.await.unwrap_or_default() };
        api::serve(server, app, shutdown).await.unwrap();
    });
    Running { address, stop: Some(stop), served }
}

/// Starts a server with changed limits.
pub async fn start_limited(change: impl FnOnce(&mut ConnectionLimits)) -> (TestApp, Running) {
    let mut connections = ConnectionLimits::default();
    change(&mut connections);
    let app = TestApp::start_configured(Config { connections, ..Config::default() }, Clock::system()).await;
    let running = start(&app).await;
    (app, running)
}

impl Running {
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Begins the end of the server, with a delay.
    pub fn stop(&mut self, delay: Duration) {
        self.stop.take().expect("it runs").send(delay).expect("it runs");
    }

    pub async fn wait_until_ended(self) {
        timeout(PATIENCE, self.served).await.expect("the end of the server").unwrap();
    }

    /// Connects, sends, and reads to the end of the connection.
    pub async fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        to_end(&mut stream).await
    }
}

/// Reads all that the server sends until it closes.
pub async fn to_end(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer)).await.expect("the end of the connection").unwrap();
    answer
}

/// Sends a request over an open connection and reads the head of the answer with its small body.
pub async fn ask(stream: &mut TcpStream, request: &str) -> io::Result<String> {
    stream.write_all(request.as_bytes()).await?;
    let mut buffer = vec![0; 4096];
    let bytes = timeout(PATIENCE, stream.read(&mut buffer)).await.expect("an answer")?;
    Ok(String::from_utf8_lossy(&buffer[..bytes]).into_owned())
}

/// Status and code of a refusal.
pub fn read_refusal(answer: &str) -> (u16, String) {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    (status.unwrap(), body["code"].as_str().unwrap_or_default().to_owned())
}

const LIVE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
const LIVE_ONCE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn the_server_answers_and_shuts_down() {
    let app = TestApp::start().await;
    let mut running = start(&app).await;
    let answer = running.exchange(LIVE_ONCE).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let fresh = running.connect().await;
    let mut idle = running.connect().await;
    ask(&mut idle, LIVE).await.unwrap();
    let address = running.address;
    running.stop(Duration::ZERO);
    running.wait_until_ended().await;
    drop((fresh, idle));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused_with_a_code() {
    let (_app, running) = start_limited(|_| {}).await;
    let with = |line: &str, headers: &str| format!("{line}\r\nhost: x\r\nconnection: close\r\n{headers}\r\n");
    let many: String = (0..70).map(|number| format!("x-{number}: 1\r\n")).collect();
    let answer = running.exchange(&with("GET /health/live HTTP/1.1", &many)).await;
    assert_eq!(read_refusal(&answer), (431, "headers_too_large".to_owned()));
    let large = format!("x: {}\r\n", "1".repeat(40 << 10));
    let answer = running.exchange(&with("GET /health/live HTTP/1.1", &large)).await;
    assert_eq!(read_refusal(&answer), (431, "headers_too_large".to_owned()));
    let line = format!("GET /health/live?{} HTTP/1.1", "x".repeat(9 << 10));
    let answer = running.exchange(&with(&line, "")).await;
    assert_eq!(read_refusal(&answer), (414, "uri_too_long".to_owned()));
    assert!(answer.contains("x-request-id: "), "{answer}");
    let monstrous = format!("x: {}\r\n", "1".repeat(70 << 10));
    let answer = running.exchange(&with("GET /health/live HTTP/1.1", &monstrous)).await;
    assert_eq!(read_refusal(&answer), (431, "headers_too_large".to_owned()));
    let hundreds: String = (0..150).map(|number| format!("x-{number}: 1\r\n")).collect();
    let answer = running.exchange(&with("GET /health/live HTTP/1.1", &hundreds)).await;
    assert_eq!(read_refusal(&answer), (431, "headers_too_large".to_owned()));
}

#[tokio::test]
async fn bytes_that_are_not_http_are_refused_with_a_code() {
    let (_app, running) = start_limited(|_| {}).await;
    for bytes in [
        "hello\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/7.1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: one\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        "GET /health/live HTTP/1.1\nhost: x\n\n",
        "GET /health/live HTTP/1.1\r\nhost: x\r\nx: 1\n\r\n",
        "GET /health/live HTTP/1.1\r\nhost: x\r\nhost: x\r\n\r\n",
        "POST /health/live HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /health/live HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    ] {
        let answer = running.exchange(bytes).await;
        assert_eq!(read_refusal(&answer), (400, "malformed_http".to_owned()), "{bytes}");
        assert!(answer.contains("\r\nx-request-id: ") && answer.contains("\r\nconnection: close"), "{answer}");
    }
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    stream.write_all(b"after a good one\r\n\r\n").await.unwrap();
    assert_eq!(read_refusal(&to_end(&mut stream).await), (400, "malformed_http".to_owned()));
}

/// Otherwise a client would send its next request into a connection that the server is closing.
#[tokio::test]
async fn an_answer_before_the_end_of_a_body_closes_the_connection() {
    let (app, running) = start_limited(|_| {}).await;
    let bearer = format!("authorization: Bearer {}\r\n", app.token);
    let body = r#"{"name": "a", "description": "d", "tags": {}}"#;
    for (credentials, length, body, status, is_last) in [
        ("", 0, "", 401, false),
        ("", 4 << 20, "", 401, true),
        (bearer.as_str(), 4 << 20, "", 413, true),
        (&bearer, body.len(), body, 201, false),
    ] {
        let mut stream = running.connect().await;
        let head = format!("POST /v1/acme/tool HTTP/1.1\r\nhost: x\r\n{credentials}content-type: application/json\r\n");
        let answer = ask(&mut stream, &format!("{head}content-length: {length}\r\n\r\n{body}")).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.contains("connection: close\r\n"), is_last, "{answer}");
    }
}

/// The client is still sending when it is refused, and reads the refusal nevertheless.
#[tokio::test]
async fn a_body_that_is_too_large_is_refused_with_a_code() {
    let (app, running) = start_limited(|_| {}).await;
    let body = vec![b' '; 4 << 20];
    for framing in [format!("content-length: {}", body.len()), "transfer-encoding: chunked".to_owned()] {
        let head = format!("POST /v1/acme/tool HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n", app.token);
        let head = format!("{head}content-type: application/json\r\n{framing}\r\n\r\n");
        let mut stream = running.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        if framing.starts_with("transfer") {
            stream.write_all(format!("{:x}\r\n", body.len()).as_bytes()).await.unwrap();
        }
        stream.write_all(&body).await.unwrap();
        let answer = to_end(&mut stream).await;
        assert_eq!(read_refusal(&answer), (413, "body_too_large".to_owned()));
    }
}

#[tokio::test]
async fn a_body_that_is_cut_off_changes_nothing() {
    let (app, running) = start_limited(|_| {}).await;
    let head = format!("POST /v1/acme/tool HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n", app.token);
    let request = format!("{head}content-type: application/json\r\ncontent-length: 500\r\n\r\n{{\"name\":");
    let mut stream = running.connect().await;
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(app.get("/tool").await.json()["tools"], serde_json::json!([]));
}

/// The sockets are more than the server accepts.
#[tokio::test]
async fn a_thousand_idle_sockets_keep_no_other_client_out() {
    let (_app, running) = start_limited(|_| {}).await;
    let (_, hard) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).unwrap();
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let mut idle = Vec::new();
    for number in 0..1_000 {
        let mut stream = running.connect().await;
        // Some have had an answer, some stop within their head, some send nothing.
        match number % 3 {
            0 => drop(ask(&mut stream, LIVE).await.unwrap()),
            1 => stream.write_all(b"GET /health/live HTTP/1.1\r\nhost:").await.unwrap(),
            _ => {}
        }
        idle.push(stream);
    }
    let mut good = running.connect().await;
    for _ in 0..3 {
        let answer = ask(&mut good, LIVE).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    }
    let answer = running.exchange(LIVE_ONCE).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert_eq!(to_end(&mut idle[2]).await, "", "the first of the idle connections was evicted");
}

#[tokio::test]
async fn a_full_server_refuses_with_a_code() {
    let (_app, running) = start_limited(|limits| limits.connections_max = 0).await;
    let answer = to_end(&mut running.connect().await).await;
    assert_eq!(read_refusal(&answer), (503, "too_many_connections".to_owned()));
    assert!(answer.contains("retry-after: 1\r\n"), "{answer}");
    assert!(answer.contains("cache-control: no-store\r\n"), "{answer}");
}
