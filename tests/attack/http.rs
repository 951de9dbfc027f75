//! Damage to the head of a request and to its framing.

use fastrand::Rng;

use super::message::{Framing, Message};

type Spoil = fn(&mut Message, &mut Rng);

const SPOILS: [Spoil; 9] = [method, target, place, version, framing, line_end, header, odd_header, crowd];

pub fn spoil(message: &mut Message, rng: &mut Rng) {
    SPOILS[rng.usize(..SPOILS.len())](message, rng);
}

fn one<'l, T: ?Sized>(of: &[&'l T], rng: &mut Rng) -> &'l T {
    of[rng.usize(..of.len())]
}

fn method(message: &mut Message, rng: &mut Rng) {
    let long = b"A".repeat(9_000);
    let methods: [&[u8]; 14] = [
        b"HEAD", b"OPTIONS", b"PUT", b"PATCH", b"TRACE", b"CONNECT", b"PRI", b"get", b"GE\0T", b"G(T", b"", b" GET",
        b"\xff", &long,
    ];
    message.method = one(&methods, rng).to_vec();
}

fn target(message: &mut Message, rng: &mut Rng) {
    let long = [&b"/"[..], &b"a".repeat(70_000)].concat();
    let targets: [&[u8]; 12] = [
        b"*",
        b"/",
        b"//",
        b"",
        b"http://elsewhere/v1/openapi.json",
        b"http://[::1",
        b"localhost:80",
        b"/v1/../../etc/passwd",
        b"/%2e%2e/%2e%2e",
        b"/v1/%00",
        b"\\",
        &long,
    ];
    message.target = one(&targets, rng).to_vec();
}

/// Puts unusual text into the path or the query.
fn place(message: &mut Message, rng: &mut Rng) {
    let many = b"&tag=a".repeat(2_000);
    let pieces: [&[u8]; 24] = [
        b"%",
        b"%zz",
        b"%00",
        b"%ff",
        b"%C0%AF",
        b"%ED%A0%80",
        b"%2F",
        b"%252F",
        b"%0d%0ax-a:1",
        b"/../",
        b"//",
        b"/./",
        b"?",
        b"#",
        b"&",
        b"=",
        b"+",
        b"\xc3\xa9",
        b"\xff",
        b"\x7f",
        b"&limit=99999999999999999999",
        b"&sort_by=",
        b"?limit=-1&limit=2",
        &many,
    ];
    let at = rng.usize(..=message.target.len());
    message.target.splice(at..at, one(&pieces, rng).iter().copied());
}

fn version(message: &mut Message, rng: &mut Rng) {
    let versions: [&[u8]; 10] = [
        b"HTTP/1.0",
        b"HTTP/0.9",
        b"HTTP/2.0",
        b"HTTP/1.2",
        b"HTTP/9.9",
        b"http/1.1",
        b"HTTP/1.1 ",
        b"HTTP/",
        b"",
        b"ICY/1.1",
    ];
    message.version = one(&versions, rng).to_vec();
}

fn framing(message: &mut Message, rng: &mut Rng) {
    let claims: [&[&[u8]]; 22] = [
        &[b"content-length: 0"],
        &[b"content-length: 99999"],
        &[b"content-length: 18446744073709551616"],
        &[b"content-length: -1"],
        &[b"content-length: +5"],
        &[b"content-length: 0x10"],
        &[b"content-length: 5, 5"],
        &[b"content-length: 1", b"content-length: 2"],
        &[b"content-length: "],
        &[b"content-length: 1e3"],
        &[b"content-length: 3", b"transfer-encoding: chunked"],
        &[b"transfer-encoding: gzip"],
        &[b"transfer-encoding: identity"],
        &[b"transfer-encoding: chunked, identity"],
        &[b"transfer-encoding: xchunked"],
        &[b"transfer-encoding:\x0bchunked"],
        &[b"transfer-encoding: chunked", b"transfer-encoding: chunked"],
        &[b"transfer-encoding: chunked"],
        &[b"content-length : 4"],
        &[b"content-length: 1048577"],
        &[b"expect: 100-continue"],
        &[],
    ];
    if rng.u8(..3) == 0 {
        message.framing = Framing::Chunked;
        return;
    }
    message.framing = Framing::Claimed(one(&claims, rng).iter().map(|line| line.to_vec()).collect());
    if rng.bool() {
        chunk(message, rng);
    }
}

/// A chunked body with one invalid chunk.
fn chunk(message: &mut Message, rng: &mut Rng) {
    let long = [&b"1;"[..], &b"e".repeat(80_000), b"\r\na\r\n"].concat();
    let chunks: [&[u8]; 11] = [
        b"FFFFFFFFFFFFFFFFF\r\na\r\n",
        b"-1\r\na\r\n",
        b"0x1\r\na\r\n",
        b"\r\n\r\n",
        b"5\r\na\r\n0\r\n\r\n",
        b"1\na\n0\n\n",
        b"g\r\n",
        b"1 \r\na\r\n",
        b"0\r\nx: y\r\ncontent-length: 9\r\n\r\n",
        b"7fffffffffffffff\r\n",
        &long,
    ];
    message.body = one(&chunks, rng).to_vec();
}

fn line_end(message: &mut Message, rng: &mut Rng) {
    message.line_end = one(&[&b"\n"[..], b"\r", b"\r\r\n", b"\n\r", b"\0", b" \r\n"], rng);
}

/// A header that the server reads, with an unexpected value.
fn header(message: &mut Message, rng: &mut Rng) {
    let names = [
        "authorization",
        "x-api-key",
        "x-api-key-id",
        "x-user-id",
        "x-org-id",
        "content-type",
        "accept",
        "accept-encoding",
        "content-encoding",
        "prefer",
        "idempotency-key",
        "traceparent",
        "tracestate",
        "x-request-id",
        "last-event-id",
        "range",
        "upgrade",
        "connection",
        "expect",
        "git-protocol",
        "cookie",
        "host",
        "if-none-match",
        "x-forwarded-for",
        "te",
        "trailer",
    ];
    let long = b"z".repeat(20_000);
    let values: [&[u8]; 32] = [
        b"",
        b" ",
        b"\0",
        b"a\0b",
        b"\xff\xfe",
        b"\xc3\xa9",
        b"a\rb",
        b"a\nb: c",
        b"*/*;q=9",
        b"text/event-stream",
        b"gzip",
        b"Basic",
        b"Basic !!!!",
        b"Basic Og==",
        b"Basic gICAgA==",
        b"Bearer",
        b"Bearer  a",
        b"Bearer a.b.c",
        b"Negotiate x",
        b"application/json; charset=utf-16",
        b"text/plain",
        b"multipart/form-data",
        b"respond-async, wait=-1",
        b"00-00000000000000000000000000000000-0000000000000000-00",
        b"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        b"bytes=0-",
        b"h2c",
        b"websocket",
        b"100-continue",
        b"close, upgrade",
        b"%00",
        &long,
    ];
    let name = names[rng.usize(..names.len())];
    if rng.bool() {
        message.headers.retain(|line| !line.starts_with(name.as_bytes()));
    }
    message.headers.push([name.as_bytes(), b": ", one(&values, rng)].concat());
}

/// A line that is not a header.
fn odd_header(message: &mut Message, rng: &mut Rng) {
    let lines: [&[u8]; 12] = [
        b"no colon",
        b": no name",
        b"name : space",
        b" folded: line",
        b"\tfolded",
        b"\0: nul",
        b"a\xff: b",
        b"a(b): c",
        b"host: a",
        b"host",
        b"HTTP/1.1 200 OK",
        b"GET / HTTP/1.1",
    ];
    let at = rng.usize(..=message.headers.len());
    message.headers.insert(at, one(&lines, rng).to_vec());
}

/// Headers beyond the limits on their number and size.
fn crowd(message: &mut Message, rng: &mut Rng) {
    let (count, length) = one(&[&(90, 10), &(101, 1), &(5_000, 1), &(20, 4_000), &(2, 70_000)], rng);
    let length = *length;
    message.headers.extend((0..*count).map(|index| format!("x-{index}: {}", "y".repeat(length)).into_bytes()));
}

/// Changes, removes or inserts bytes anywhere in the message.
pub fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(..bytes.len());
        match rng.u8(..4) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes[at] ^= 1 << rng.u8(..8),
            2 => bytes.insert(at, rng.u8(..)),
            _ => bytes.truncate(at.max(1)),
        }
    }
}
