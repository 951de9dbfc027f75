//! Clients that hold as many connections as they can without using them, with and without credentials.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::{Options, Server, Team};

/// Connections of the server: half of what the attackers could hold.
const CONNECTIONS: usize = 24;
const PER_ADDRESS: usize = 16;
const ATTACKERS: [&str; 2] = ["127.0.0.2:0", "127.0.0.3:0"];
const HELD_PER_ATTACKER: usize = 32;

/// Requests of the third client, each over a new connection.
const REQUESTS: usize = 200;

/// The largest response of the server, which fills every buffer on the way.
const LARGE: &str = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n";
const LIVE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

fn server() -> Arc<Server> {
    let limits = [format!("--connections={CONNECTIONS}"), format!("--connections-per-address={PER_ADDRESS}")];
    Server::private(&Options { arguments: limits.to_vec(), ..Options::default() })
}

async fn connect(from: &str, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(from.parse().expect("an address"))?;
    socket.set_recv_buffer_size(4 << 10)?;
    socket.connect(to).await
}

/// Opens connections one after the other, sends the same request on each, and keeps the last ones without reading.
async fn hold(from: &'static str, to: SocketAddr, request: Arc<str>, opened: Arc<AtomicUsize>) {
    let mut held = VecDeque::new();
    loop {
        // Continues after a refusal or a reset.
        if let Ok(mut stream) = connect(from, to).await {
            drop(stream.write_all(request.as_bytes()).await);
            held.push_back(stream);
            opened.fetch_add(1, Ordering::Relaxed);
        }
        if held.len() > HELD_PER_ATTACKER {
            held.pop_front();
        }
        // Yields to the other client, which runs on the same thread.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn answer(from: &str, to: SocketAddr) -> std::io::Result<String> {
    let mut stream = connect(from, to).await?;
    stream.write_all(LIVE.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// Sends requests repeatedly during the attack.
async fn all_are_answered(to: SocketAddr, request: String) {
    let (request, opened) = (Arc::<str>::from(request), Arc::<AtomicUsize>::default());
    let attack = ATTACKERS.map(|from| tokio::spawn(hold(from, to, request.clone(), opened.clone())));
    while opened.load(Ordering::Relaxed) < 2 * CONNECTIONS {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut refused = Vec::new();
    for _ in 0..REQUESTS {
        match answer("127.0.0.4:0", to).await {
            Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => {}
            other => refused.push(other),
        }
    }
    attack.iter().for_each(tokio::task::JoinHandle::abort);
    assert!(refused.is_empty(), "{} of {REQUESTS} requests were refused, such as {:?}", refused.len(), refused[0]);
}

fn run(server: &Server, request: String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(all_are_answered(server.address(), request));
}

#[test]
fn clients_that_do_not_read_do_not_block_others() {
    run(&server(), LARGE.to_owned());
}

#[test]
fn users_who_send_their_bodies_slowly_do_not_block_others() {
    let server = server();
    let team = Team::on(&server);
    let request = format!(
        "POST /v1/{}/tool HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: 500\r\n\r\n{{",
        team.organization, team.token
    );
    run(&server, request);
}
