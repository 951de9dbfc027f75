//! Clients that are too slow: their connections end, with an answer where one is possible.

use std::time::Duration;

use api::BodyLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, interval, timeout};

use crate::harness::TestApp;
use crate::server::{PATIENCE, Running, ask, read_refusal, start_limited, to_end};

/// A limit for an action that the client never takes. Actions that it takes have the limit [`LONG`].
const SHORT: Duration = Duration::from_millis(500);
/// A limit that no test reaches.
const LONG: Duration = Duration::from_secs(3_600);

const LIVE_ONCE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const LIVE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";

/// The head of a request whose body follows.
fn build_head(app: &TestApp, path: &str, media_type: &str) -> String {
    format!(
        "POST /v1/acme{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: {media_type}\r\n\
         content-length: 500\r\n\r\n",
        app.token
    )
}

#[tokio::test]
async fn slow_headers_are_a_408() {
    let (_app, running) = start_limited(|limits| {
        limits.header_time_max = SHORT;
        limits.idle_time_max = LONG;
    })
    .await;
    let answer = running.exchange("GET /health/live HTTP/1.1\r\nhost:").await;
    assert_eq!(read_refusal(&answer), (408, "headers_too_slow".to_owned()));
    // The second request of a connection has no more time than the first.
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    stream.write_all(b"GET /health").await.unwrap();
    assert_eq!(read_refusal(&to_end(&mut stream).await), (408, "headers_too_slow".to_owned()));
}

#[tokio::test]
async fn dripping_headers_are_a_408() {
    let (_app, running) = start_limited(|limits| limits.header_time_max = SHORT).await;
    let answer = drip(&running, "GET /health/live HTTP/1.1\r\n", "x: 1\r\n").await;
    assert_eq!(read_refusal(&answer), (408, "headers_too_slow".to_owned()));
}

#[tokio::test]
async fn an_idle_connection_is_closed_without_an_answer() {
    let (_app, running) = start_limited(|limits| limits.idle_time_max = SHORT).await;
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_its_time() {
    let (_app, running) = start_limited(|limits| limits.header_time_max = SHORT).await;
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    let mut buffer = [0];
    let silence = timeout(SHORT * 3, stream.read(&mut buffer)).await;
    assert!(silence.is_err(), "{silence:?}");
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_silent_body_is_a_408() {
    let (app, running) = start_limited(|limits| limits.body.silence_max = SHORT).await;
    let answer = running.exchange(&(build_head(&app, "/tool", "application/json") + "{\"name\":")).await;
    assert_eq!(read_refusal(&answer), (408, "body_too_slow".to_owned()));
}

/// Sends a few bytes every 20 ms and reads to the end of the connection.
async fn drip(running: &Running, start: &str, drop: &str) -> String {
    let mut stream = running.connect().await;
    stream.write_all(start.as_bytes()).await.unwrap();
    drip_into(stream, drop).await
}

async fn drip_into(mut stream: TcpStream, drop: &str) -> String {
    let (mut reader, mut writer) = stream.split();
    let dripping = async {
        let mut pace = interval(Duration::from_millis(20));
        while writer.write_all(drop.as_bytes()).await.is_ok() {
            pace.tick().await;
        }
    };
    let mut answer = String::new();
    let reading = timeout(PATIENCE, reader.read_to_string(&mut answer));
    tokio::select! {
        read = reading => assert!(read.expect("the end of the connection").is_ok()),
        () = dripping => panic!("the connection broke off"),
    }
    answer
}

#[tokio::test]
async fn a_dripping_body_is_a_408() {
    let patient = BodyLimits { silence_max: LONG, time_max: LONG, bytes_per_second_min: 1024, grace: LONG };
    for limits in [BodyLimits { time_max: SHORT, ..patient }, BodyLimits { grace: SHORT, ..patient }] {
        let (app, running) = start_limited(|connections| connections.body = limits).await;
        let answer = drip(&running, &build_head(&app, "/tool", "application/json"), " ").await;
        assert_eq!(read_refusal(&answer), (408, "body_too_slow".to_owned()), "{limits:?}");
    }
}

/// The rights of the sender are checked again while its body arrives.
#[tokio::test]
async fn rights_that_end_before_the_body_end_the_request() {
    let (app, running) = start_limited(|_| {}).await;
    let bob = app.member("bob", "admin").await;
    let head = format!(
        "POST /v1/acme/user HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bob}\r\ncontent-type: application/json\r\n\
         content-length: 50000\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, &head).await.unwrap().starts_with("HTTP/1.1 100 "));
    stream.write_all(br#"{"user_id":"backdoor","role":"admin"}"#).await.unwrap();
    assert_eq!(app.delete("/user/bob").await.status.as_u16(), 204);
    assert_eq!(read_refusal(&drip_into(stream, " ").await), (401, "unauthenticated".to_owned()));
    assert_eq!(app.get("/user/backdoor").await.status.as_u16(), 404);
}

#[tokio::test]
async fn a_push_has_times_of_its_own() {
    let (app, running) = start_limited(|limits| {
        limits.body.silence_max = LONG;
        limits.git_body.silence_max = SHORT;
    })
    .await;
    let path = "/tool/git/tools.git/git-upload-pack";
    let answer = running.exchange(&(build_head(&app, path, "application/x-git-upload-pack-request") + "0014")).await;
    // Git sends nothing before it has the request, so that an answer is still possible.
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("git_body_cut_off"), "{answer}");
}

/// The answers fill every buffer on the way, and then the time of the client begins.
#[tokio::test]
async fn the_connection_of_a_client_that_does_not_read_ends() {
    let (_app, running) = start_limited(|limits| limits.response_silence_max = SHORT).await;
    let mut stream = running.connect().await;
    let asked = async { while stream.write_all(LIVE.as_bytes()).await.is_ok() {} };
    timeout(PATIENCE, asked).await.expect("the end of the connection");
}

/// The largest answer of the server: 1.7 MB.
const LARGE: &str = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n";

/// Requests the largest answer on a connection with small buffers.
async fn ask_for_much(running: &Running) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(running.address).await.unwrap();
    stream.write_all(LARGE.as_bytes()).await.unwrap();
    stream
}

/// Reads a piece after each pause, to the end of the answer (true) or of the connection (false).
async fn read_slowly(stream: &mut TcpStream, pause: Duration) -> bool {
    let mut pace = interval(pause);
    let (mut answer, mut piece) = (Vec::new(), vec![0; 16 << 10]);
    while let Ok(bytes @ 1..) = timeout(PATIENCE, stream.read(&mut piece)).await.expect("bytes, or the end") {
        answer.extend_from_slice(&piece[..bytes]);
        if answer.len() > 1 << 20 && is_whole(&answer) {
            return true;
        }
        pace.tick().await;
    }
    false
}

fn is_whole(answer: &[u8]) -> bool {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("the end of the head");
    let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
    let (_, length) = text.split_once("content-length: ").expect("a length");
    let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
    answer.len() == head + 4 + length
}

#[tokio::test]
async fn a_connection_whose_client_reads_an_answer_is_not_idle() {
    let (_app, running) = start_limited(|limits| limits.idle_time_max = SHORT).await;
    let mut stream = ask_for_much(&running).await;
    let began = Instant::now();
    assert!(read_slowly(&mut stream, Duration::from_millis(20)).await, "cut off after {:?}", began.elapsed());
    assert!(began.elapsed() > SHORT * 2, "read too fast to show anything: {:?}", began.elapsed());
    // Now the connection is idle.
    assert_eq!(to_end(&mut stream).await, "");
}

/// The second client may be refused until the server knows that it waits for the first one.
#[tokio::test]
async fn a_client_that_reads_nothing_or_sends_nothing_is_evicted() {
    let (app, running) = start_limited(|limits| limits.connections_max = 1).await;
    for is_sending in [false, true] {
        let mut first = if is_sending {
            let mut stream = running.connect().await;
            stream.write_all(build_head(&app, "/tool", "application/json").as_bytes()).await.unwrap();
            stream
        } else {
            let stream = ask_for_much(&running).await;
            stream.readable().await.unwrap();
            stream
        };
        let answered = async { while !running.exchange(LIVE_ONCE).await.starts_with("HTTP/1.1 200 ") {} };
        timeout(PATIENCE, answered).await.expect("an answer");
        // Bytes on their way may still arrive, and then the end or a reset.
        let mut rest = Vec::new();
        let ended = timeout(PATIENCE, first.read_to_end(&mut rest)).await.expect("the end of the connection");
        assert!(ended.is_err() || rest.is_empty() || !is_whole(&rest), "{} bytes", rest.len());
    }
}

#[tokio::test]
async fn many_stalled_connections_of_an_address_have_less_time() {
    let (_app, running) = start_limited(|limits| {
        limits.response_silence_max = Duration::from_secs(75);
        // The crowd has more than three quarters of them.
        limits.connections_per_address_max = 120;
    })
    .await;
    let mut crowd = Vec::new();
    for _ in 0..100 {
        crowd.push(ask_for_much(&running).await);
    }
    // The last connection has a twelfth of the time. The whole time is longer than a test waits.
    let mut last = crowd.pop().unwrap();
    timeout(PATIENCE, async { while last.write_all(LIVE.as_bytes()).await.is_ok() {} }).await.expect("the end");
}

#[tokio::test]
async fn the_connection_of_a_client_that_reads_too_slowly_ends() {
    for (bytes_per_second_min, silence_max, is_whole) in [(1 << 30, SHORT, false), (1, LONG, true)] {
        let (_app, running) = start_limited(|limits| {
            limits.response_silence_max = silence_max;
            limits.response_bytes_per_second_min = bytes_per_second_min;
        })
        .await;
        let mut stream = ask_for_much(&running).await;
        assert_eq!(read_slowly(&mut stream, Duration::from_millis(20)).await, is_whole, "{bytes_per_second_min} B/s");
    }
}
