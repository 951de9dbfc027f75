//! Encoded bodies of git requests: the inflated size is bounded before git receives it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::harness::{Answer, Team};

const MEBIBYTE: usize = 1024 * 1024;

fn gzip(parts: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    parts.for_each(|part| encoder.write_all(&part).expect("packed bytes"));
    encoder.finish().expect("packed bytes")
}

/// Lines of git's protocol. git keeps all of them in memory until the list ends.
fn lines(count: usize) -> Vec<u8> {
    let line = format!("{} {} refs/heads/releases/a\n", "0".repeat(40), "1".repeat(40));
    format!("{:04x}{line}", line.len() + 4).into_bytes().repeat(count)
}

fn post(team: &Team, service: &str, encoding: &str, body: Vec<u8>) -> Answer {
    let request = team.request("POST", &format!("/tool/git/tools.git/git-{service}"));
    let request = request.header("content-type", &format!("application/x-git-{service}-request"));
    let request = if encoding.is_empty() { request } else { request.header("content-encoding", encoding) };
    request.header("git-protocol", "version=2").plain_body(body).send()
}

#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code()), (status, code.to_owned()), "{answer}");
}

#[test]
fn a_push_that_inflates_beyond_the_bound_is_refused() {
    let team = Team::new();
    let bomb = gzip((0..110).map(|_| lines(MEBIBYTE / 110)));
    assert!(bomb.len() < 2 * MEBIBYTE, "{}", bomb.len());
    let answer = post(&team, "receive-pack", "gzip", bomb);
    refused(&answer, 413, "git_body_too_large");
    assert!(answer.detail().contains("109051904 bytes, inflated if it is compressed"), "{answer}");
    team.push();
}

#[test]
fn a_fetch_has_a_much_lower_bound() {
    let team = Team::new();
    let bomb = gzip(std::iter::once(lines(5 * MEBIBYTE / 110)));
    refused(&post(&team, "upload-pack", "gzip", bomb), 413, "git_body_too_large");
    // The bound also holds without compression and without a length.
    let chunked = "0014command=ls-refs\n".repeat(MEBIBYTE / 4).into_bytes();
    refused(&post(&team, "upload-pack", "", chunked), 413, "git_body_too_large");
}

#[test]
fn a_gzip_body_is_answered() {
    let team = Team::new();
    let commit = team.push();
    let question = || std::iter::once(b"0014command=ls-refs\n0000".to_vec());
    for (encoding, body) in [("gzip", gzip(question())), ("X-GZIP", gzip(question())), ("", question().next().unwrap())]
    {
        let answer = post(&team, "upload-pack", encoding, body);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status == 200 && text.contains(&commit), "{encoding}: {answer}");
    }
}

#[test]
fn other_encodings_are_refused() {
    let team = Team::new();
    for encoding in ["deflate", "br", "zstd", "compress", "gzip, gzip", "gzip, identity", "x"] {
        for service in ["upload-pack", "receive-pack"] {
            let answer = post(&team, service, encoding, b"0000".to_vec());
            refused(&answer, 415, "git_body_encoding");
            assert_eq!(answer.headers["accept-encoding"], "gzip", "{answer}");
        }
    }
}

#[test]
fn a_body_that_is_not_gzip_is_refused() {
    let team = Team::new();
    let whole = gzip(std::iter::once(b"0014command=ls-refs\n0000".to_vec()));
    for body in [b"0000".to_vec(), whole[..whole.len() - 4].to_vec(), [&whole[..], &whole].concat()] {
        refused(&post(&team, "upload-pack", "gzip", body), 400, "git_body_not_gzip");
    }
}
