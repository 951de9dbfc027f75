//! The orderly end of a server: it announces its end, serves what arrives meanwhile, and loses no connection.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::TestApp;
use crate::server::{PATIENCE, Running, ask, read_refusal, start, start_limited, to_end};

const LIVE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
const LIVE_ONCE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const READY: &str = "GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n";
const READY_ONCE: &str = "GET /health/ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

/// Longer than the test.
const LONG: Duration = Duration::from_secs(3_600);

/// Time between the announcement and the end in tests that wait for the end.
const DELAY: Duration = Duration::from_secs(2);

async fn wait_for_announcement(running: &Running) {
    let is_ready = async || running.exchange(READY_ONCE).await.starts_with("HTTP/1.1 200 ");
    timeout(PATIENCE, async { while is_ready().await {} }).await.expect("the announcement");
}

#[tokio::test]
async fn a_server_that_announces_its_end_serves_everything_and_ends_its_connections() {
    let app = TestApp::start().await;
    let mut running = start(&app).await;
    let mut kept = running.connect().await;
    assert!(!ask(&mut kept, LIVE).await.unwrap().contains("connection: close"));
    running.stop(LONG);
    wait_for_announcement(&running).await;
    for mut stream in [kept, running.connect().await] {
        stream.write_all(LIVE.as_bytes()).await.unwrap();
        let answer = to_end(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    }
    assert_eq!(read_refusal(&running.exchange(READY).await), (503, "shutting_down".to_owned()));
}

/// The server has stopped listening when the rest of the request arrives, and still begins its work.
#[tokio::test]
async fn a_request_that_has_begun_is_not_refused() {
    let (app, mut running) = start_limited(|_| {}).await;
    let body = r#"{"inputs": []}"#;
    let head = format!(
        "POST /v1/acme/tool/none/version/%3E%3D0/invoke HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        app.token,
        body.len()
    );
    let mut stream = running.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    running.stop(Duration::ZERO);
    timeout(PATIENCE, async { while TcpStream::connect(running.address).await.is_ok() {} }).await.expect("the end");
    stream.write_all(body.as_bytes()).await.unwrap();
    let answer = to_end(&mut stream).await;
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
    let (status, code) = read_refusal(&answer);
    assert!((400..500).contains(&status), "{status} {code}");
    running.wait_until_ended().await;
}

/// A kept connection is not closed at once, since a request may be on its way.
#[tokio::test]
async fn an_unused_connection_stays_for_the_delay() {
    let (_app, mut running) = start_limited(|_| {}).await;
    let mut used = running.connect().await;
    ask(&mut used, LIVE).await.unwrap();
    let mut unused = running.connect().await;
    let began = tokio::time::Instant::now();
    running.stop(DELAY);
    assert_eq!(to_end(&mut unused).await, "");
    assert_eq!(to_end(&mut used).await, "");
    assert!(began.elapsed() >= DELAY);
    running.wait_until_ended().await;
}

/// Clients open connections until they are refused. Each request over an open connection is answered.
#[tokio::test(flavor = "multi_thread")]
async fn no_connection_is_reset_when_the_server_stops_listening() {
    for _ in 0..3 {
        let (_app, mut running) = start_limited(|_| {}).await;
        let address = running.address;
        let clients: Vec<_> = (0..8).map(|_| tokio::spawn(connect_until_refused(address))).collect();
        running.stop(DELAY);
        for client in clients {
            assert!(timeout(PATIENCE, client).await.expect("a refusal").unwrap() > 0);
        }
        running.wait_until_ended().await;
    }
}

/// Returns the number of answers.
async fn connect_until_refused(address: std::net::SocketAddr) -> usize {
    let mut answers = 0;
    while let Ok(mut stream) = TcpStream::connect(address).await {
        stream.write_all(LIVE_ONCE.as_bytes()).await.expect("an open connection");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
        answers += 1;
    }
    answers
}
