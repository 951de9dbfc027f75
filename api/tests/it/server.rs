//! The accept loop: bounds on connections, and the end.

use std::time::Duration;

use api::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::harness::TestApp;

pub struct Running {
    pub address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

pub async fn start(app: &TestApp) -> Running {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.local_address();
    let (stop, stopped) = oneshot::channel::<()>();
    let app = app.app.clone();
    let served = tokio::spawn(async move {
        let shutdown = async { stopped.await.unwrap_or_default() };
        server.serve(app, shutdown).await.unwrap();
    });
    Running { address, stop, served }
}

async fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn it_answers_and_ends_in_order() {
    let app = TestApp::start().await;
    let running = start(&app).await;
    let answer = exchange(running.address, "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let idle = TcpStream::connect(running.address).await.unwrap();
    running.stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), running.served).await.unwrap().unwrap();
    drop(idle);
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn too_many_headers_are_refused() {
    let app = TestApp::start().await;
    let running = start(&app).await;
    let headers: String = (0..100).map(|number| format!("x-{number}: 1\r\n")).collect();
    let answer = exchange(running.address, &format!("GET /health/live HTTP/1.1\r\nhost: x\r\n{headers}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

/// Takes ten seconds, as the bound does.
#[tokio::test]
async fn a_client_that_sends_no_headers_is_let_go() {
    let app = TestApp::start().await;
    let running = start(&app).await;
    let answer = exchange(running.address, "GET /health/live HTTP/1.1\r\nhost:");
    let answer = tokio::time::timeout(Duration::from_secs(60), answer).await.unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_cut_off_changes_nothing() {
    let app = TestApp::start().await;
    let running = start(&app).await;
    let head = format!("POST /v1/acme/tool HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n", app.token);
    let request = format!("{head}content-type: application/json\r\ncontent-length: 500\r\n\r\n{{\"name\":");
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(app.get("/tool").await.json()["tools"], serde_json::json!([]));
}
