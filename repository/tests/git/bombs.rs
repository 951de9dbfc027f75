//! Small packs that inflate to large objects. No client makes them, so that these tests write them byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::client::Client;
use crate::server::Server;

const TREE: u8 = 2;
const BLOB: u8 = 3;
const OFFSET_DELTA: u8 = 6;
const MEBIBYTE: usize = 1 << 20;
/// The object kinds of packs.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

struct Pack {
    bytes: Vec<u8>,
    objects: u32,
}

impl Pack {
    fn new() -> Self {
        Self { bytes: vec![0; 12], objects: 0 }
    }

    /// Adds an object that declares `size` bytes, and returns its offset.
    fn add(&mut self, kind: u8, size: usize, base: Option<usize>, content: &mut dyn Read) -> usize {
        let start = self.bytes.len();
        let mut left = size >> 4;
        let more = |left| if left > 0 { 0x80 } else { 0 };
        self.bytes.push(more(left) | kind << 4 | u8::try_from(size & 15).unwrap());
        while left > 0 {
            let rest = left >> 7;
            self.bytes.push(more(rest) | u8::try_from(left & 0x7f).unwrap());
            left = rest;
        }
        if let Some(base) = base {
            self.bytes.extend(offset(start - base));
        }
        let mut encoder = ZlibEncoder::new(&mut self.bytes, Compression::best());
        std::io::copy(content, &mut encoder).expect("packed bytes");
        encoder.finish().expect("packed bytes");
        self.objects += 1;
        start
    }

    fn add_delta(&mut self, base: usize, delta: &[u8]) -> usize {
        self.add(OFFSET_DELTA, delta.len(), Some(base), &mut &*delta)
    }

    fn finish(mut self) -> Vec<u8> {
        let head = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &self.objects.to_be_bytes()].concat();
        self.bytes[..12].copy_from_slice(&head);
        let sum = sha1(&self.bytes);
        self.bytes.extend(sum);
        self.bytes
    }
}

/// The distance to a delta's base, in the format of packs.
fn offset(mut distance: usize) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(distance & 0x7f).unwrap()];
    distance >>= 7;
    while distance > 0 {
        distance -= 1;
        bytes.push(0x80 | u8::try_from(distance & 0x7f).unwrap());
        distance >>= 7;
    }
    bytes.reverse();
    bytes
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    let mut command = Command::new("sha1sum");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sha1sum");
    child.stdin.take().expect("a pipe").write_all(bytes).expect("its input");
    let said = String::from_utf8(child.wait_with_output().expect("its output").stdout).expect("text");
    hex::decode(said.split_whitespace().next().expect("a sum")).expect("hexadecimal")
}

/// A delta that repeats the first `length` bytes of its base `count` times.
fn repeating(base: usize, length: usize, count: usize) -> Vec<u8> {
    let mut delta = [varint(base), varint(length * count)].concat();
    for _ in 0..count {
        // Copy from offset zero, with three bytes of length.
        let bytes = length.to_le_bytes();
        delta.extend([0x80 | 0x70, bytes[0], bytes[1], bytes[2]]);
    }
    delta
}

fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        bytes.push(if number > 0 { low | 0x80 } else { low });
        if number == 0 {
            return bytes;
        }
    }
}

/// Sends a pack as a push of a branch, without a client.
fn push(server: &Server, pack: &[u8]) -> String {
    let update = format!("{} {} refs/heads/releases/acme\0report-status\n", "0".repeat(40), "1".repeat(40));
    let body = [format!("{:04x}{update}0000", update.len() + 4).as_bytes(), pack].concat();
    let head = format!(
        "POST /ada/tools.git/git-receive-pack HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/x-git-receive-pack-request\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.write_all(head.as_bytes()).expect("a request");
    // The server may refuse the push before it has read everything.
    let _ = stream.write_all(&body);
    let mut answer = Vec::new();
    let _ = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn check(pack: &[u8]) {
    let server = Server::start();
    let answer = push(&server, pack);
    assert!(!answer.contains("ok refs/heads/releases/acme"), "{answer}");
    assert_eq!(server.tip("releases/acme"), None);
    assert_eq!(server.quarantine_leftovers(), 0);
    let author = Client::clone_from(&server.url(), &[]);
    author.commit("tools/hello/tool.py", b"def run_tool(): return 1\n");
    author.ok(&["push", "-q", "origin", "HEAD:releases/acme"]);
}

#[test]
fn a_blob_that_inflates_to_half_a_gigabyte_is_refused() {
    let mut pack = Pack::new();
    let size = 512 * MEBIBYTE;
    pack.add(BLOB, size, None, &mut std::io::repeat(0).take(size as u64));
    let pack = pack.finish();
    assert!(pack.len() < MEBIBYTE, "{}", pack.len());
    check(&pack);
}

/// git loads a whole tree object, whatever its size, but streams large files.
#[test]
fn a_tree_that_inflates_beyond_the_memory_limit_is_refused() {
    let mut pack = Pack::new();
    let size = 600 * MEBIBYTE;
    pack.add(TREE, size, None, &mut std::io::repeat(0).take(size as u64));
    check(&pack.finish());
}

#[test]
fn deltas_of_deltas_that_inflate_to_terabytes_are_refused() {
    let mut pack = Pack::new();
    let (first, piece, count) = (MEBIBYTE, 8 * MEBIBYTE, 256);
    let blob = pack.add(BLOB, first, None, &mut std::io::repeat(7).take(first as u64));
    let second = pack.add_delta(blob, &repeating(first, first, count));
    let third = pack.add_delta(second, &repeating(first * count, piece, count));
    pack.add_delta(third, &repeating(piece * count, piece, count * count * count));
    check(&pack.finish());
}

#[test]
fn a_blob_with_a_wrong_size_is_refused() {
    for claimed in [1, usize::MAX >> 1] {
        let mut pack = Pack::new();
        pack.add(BLOB, claimed, None, &mut std::io::repeat(0).take(MEBIBYTE as u64));
        check(&pack.finish());
    }
}
