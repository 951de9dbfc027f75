//! Clients that are too slow: cut off, and told so where an answer is possible.

use std::time::Duration;

use api::BodyLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, interval, timeout};

use crate::harness::TestApp;
use crate::server::{PATIENCE, Running, ask, limited, refusal, to_end};

const SHORT: Duration = Duration::from_millis(300);
/// Longer than a test waits.
const LONG: Duration = Duration::from_secs(3_600);

const LIVE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";

/// The start of a request whose body is owed.
fn head(app: &TestApp, path: &str, media_type: &str) -> String {
    format!(
        "POST /v1/acme{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: {media_type}\r\n\
         content-length: 500\r\n\r\n",
        app.token
    )
}

#[tokio::test]
async fn slow_headers_are_a_408() {
    let (_app, running) = limited(|limits| {
        limits.header_time_max = SHORT;
        limits.idle_time_max = LONG;
    })
    .await;
    let answer = running.exchange("GET /health/live HTTP/1.1\r\nhost:").await;
    assert_eq!(refusal(&answer), (408, "headers_too_slow".to_owned()));
    // The second request of a connection has no more time than the first.
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    stream.write_all(b"GET /health").await.unwrap();
    assert_eq!(refusal(&to_end(&mut stream).await), (408, "headers_too_slow".to_owned()));
}

#[tokio::test]
async fn dripping_headers_are_a_408() {
    let (_app, running) = limited(|limits| limits.header_time_max = SHORT).await;
    let answer = drip(&running, "GET /health/live HTTP/1.1\r\n", "x: 1\r\n").await;
    assert_eq!(refusal(&answer), (408, "headers_too_slow".to_owned()));
}

#[tokio::test]
async fn an_idle_connection_is_closed_without_a_word() {
    let (_app, running) = limited(|limits| limits.idle_time_max = SHORT).await;
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_its_time() {
    let (_app, running) = limited(|limits| limits.header_time_max = SHORT).await;
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    let mut buffer = [0];
    let silence = timeout(SHORT * 3, stream.read(&mut buffer)).await;
    assert!(silence.is_err(), "{silence:?}");
    assert!(ask(&mut stream, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_silent_body_is_a_408() {
    let (app, running) = limited(|limits| limits.body.silence_max = SHORT).await;
    let answer = running.exchange(&(head(&app, "/tool", "application/json") + "{\"name\":")).await;
    assert_eq!(refusal(&answer), (408, "body_too_slow".to_owned()));
}

/// Sends a drop now and then, never silent for long, and reads to the end of the connection.
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
        let (app, running) = limited(|connections| connections.body = limits).await;
        let answer = drip(&running, &head(&app, "/tool", "application/json"), " ").await;
        assert_eq!(refusal(&answer), (408, "body_too_slow".to_owned()), "{limits:?}");
    }
}

/// What was allowed when the request began is asked about again.
#[tokio::test]
async fn rights_that_end_before_the_body_end_the_request() {
    let (app, running) = limited(|_| {}).await;
    let bob = app.member("bob", "admin").await;
    let head = format!(
        "POST /v1/acme/user HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bob}\r\ncontent-type: application/json\r\n\
         content-length: 50000\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut stream = running.connect().await;
    assert!(ask(&mut stream, &head).await.unwrap().starts_with("HTTP/1.1 100 "));
    stream.write_all(br#"{"user_id":"backdoor","role":"admin"}"#).await.unwrap();
    assert_eq!(app.delete("/user/bob").await.status.as_u16(), 204);
    assert_eq!(refusal(&drip_into(stream, " ").await), (401, "unauthenticated".to_owned()));
    assert_eq!(app.get("/user/backdoor").await.status.as_u16(), 404);
}

#[tokio::test]
async fn a_push_has_times_of_its_own() {
    let (app, running) = limited(|limits| {
        limits.body.silence_max = LONG;
        limits.git_body.silence_max = SHORT;
    })
    .await;
    let path = "/tool/git/tools.git/git-upload-pack";
    let answer = running.exchange(&(head(&app, path, "application/x-git-upload-pack-request") + "0014")).await;
    // Git begins its answer before it has the request, so that it can only be cut off.
    assert!(answer.starts_with("HTTP/1.1 200 ") && !answer.ends_with("0\r\n\r\n"), "{answer}");
}

/// Its answers fill every buffer on the way, and then the server stops waiting.
#[tokio::test]
async fn a_client_that_does_not_read_is_let_go() {
    let (_app, running) = limited(|limits| limits.answer_silence_max = SHORT).await;
    let mut stream = running.connect().await;
    let asked = async { while stream.write_all(LIVE.as_bytes()).await.is_ok() {} };
    timeout(PATIENCE, asked).await.expect("the end of the connection");
}

/// The largest answer that anybody gets: 1.7 MB.
const LARGE: &str = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n";

/// A client that asks for much, on a connection that takes little at once.
async fn ask_for_much(running: &Running) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(running.address).await.unwrap();
    stream.write_all(LARGE.as_bytes()).await.unwrap();
    stream
}

/// Reads a piece now and then, to the end of the answer or of the connection; true for that of the answer.
async fn sip(stream: &mut TcpStream, pause: Duration) -> bool {
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
async fn who_reads_an_answer_is_not_idle() {
    let (_app, running) = limited(|limits| limits.idle_time_max = SHORT).await;
    let mut stream = ask_for_much(&running).await;
    let began = Instant::now();
    assert!(sip(&mut stream, Duration::from_millis(20)).await, "cut off after {:?}", began.elapsed());
    assert!(began.elapsed() > SHORT * 2, "read too fast to show anything: {:?}", began.elapsed());
    // From here on it is.
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn who_reads_an_answer_makes_no_room() {
    let (_app, running) = limited(|limits| limits.connections_max = 1).await;
    let mut reader = ask_for_much(&running).await;
    reader.readable().await.unwrap();
    let answer = to_end(&mut running.connect().await).await;
    assert_eq!(refusal(&answer), (503, "too_many_connections".to_owned()));
    assert!(sip(&mut reader, Duration::from_millis(1)).await);
    let mut next = running.connect().await;
    assert!(ask(&mut next, LIVE).await.unwrap().starts_with("HTTP/1.1 200 "));
    assert_eq!(to_end(&mut reader).await, "");
}

#[tokio::test]
async fn who_takes_an_answer_too_slowly_is_let_go() {
    for (bytes_per_second_min, is_whole) in [(1 << 30, false), (1, true)] {
        let (_app, running) = limited(|limits| {
            limits.answer_silence_max = SHORT;
            limits.answer_bytes_per_second_min = bytes_per_second_min;
        })
        .await;
        let mut stream = ask_for_much(&running).await;
        assert_eq!(sip(&mut stream, Duration::from_millis(20)).await, is_whole, "{bytes_per_second_min} B/s");
    }
}
