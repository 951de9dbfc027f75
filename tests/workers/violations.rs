//! Connections to the workers' socket that are refused or violate the protocol.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{server, worker, works};
use crate::harness::{PATIENCE, Server, Team, Worker, eventually, needs, socket_of_workers};

/// The protocol of the binary under test.
const PROTOCOL: u64 = 1;
/// The user without rights on most machines.
const NOBODY: u32 = 65_534;

fn connect(server: &Server) -> UnixStream {
    let stream = UnixStream::connect(socket_of_workers(server)).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

fn frame(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).expect("short").to_le_bytes()[..], bytes].concat()
}

fn hello(protocol: u64, program: &str) -> Vec<u8> {
    frame(json!({"role": "worker", "protocol": protocol, "program": program}).to_string().as_bytes())
}

/// The next frame as JSON. `None` when the other side has closed the connection.
fn answer(stream: &mut UnixStream) -> Option<Value> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length) {
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => return None,
        read => read.expect("a frame or the end of the connection"),
    }
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut bytes).expect("the whole frame");
    Some(serde_json::from_slice(&bytes).expect("JSON"))
}

fn program_digest() -> String {
    let program = fs::read(env!("CARGO_BIN_EXE_lathe")).expect("the program");
    registry::Digest::of(&program).to_string()
}

#[test]
fn another_release_is_refused_with_the_next_step() {
    let server = server();
    let mut stream = connect(&server);
    stream.write_all(&hello(1_000, "sha256:1")).expect("sent");
    let said = answer(&mut stream).expect("an answer");
    assert_eq!(said["answer"], "refused");
    assert!(said["reason"].as_str().expect("text").contains("version 1000 of the protocol"), "{said}");
    assert_eq!(answer(&mut stream), None, "and the connection ends");
    // A real worker, from a program file that is one byte longer.
    let other = server.data().with_file_name("lathe-of-another-build");
    fs::copy(env!("CARGO_BIN_EXE_lathe"), &other).expect("a copy");
    fs::File::options().append(true).open(&other).and_then(|mut file| file.write_all(b"\n")).expect("a byte more");
    let mut worker = Worker::start(server.data(), &[], &other);
    assert_eq!(worker.ended().code(), Some(1), "{}", worker.said());
    assert!(worker.said().contains("its program file differs"), "{}", worker.said());
}

#[test]
fn malformed_messages_end_only_their_connection() {
    let server = server();
    let greeted = |rest: &[u8]| [hello(PROTOCOL, &program_digest()), rest.to_vec()].concat();
    for bytes in [
        vec![0xff; 4],
        vec![0; 100],
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        frame(b"{"),
        frame(&[b'['; 4_000]),
        frame(br#"{"role": "king", "protocol": 1, "program": ""}"#),
        greeted(&[0xff; 8]),
        greeted(&frame(&[])),
        greeted(&frame(&[9, 9, 9])),
        // A report about a job that the worker does not have.
        greeted(&frame(&[0, 2, 1, b'x'])),
    ] {
        let mut stream = connect(&server);
        stream.write_all(&bytes).expect("sent");
        while let Some(said) = answer(&mut stream) {
            assert_eq!(said["answer"], "accepted", "{said} to {bytes:?}");
        }
    }
    let _silent = connect(&server);
    let _worker = worker(&server);
    works(&Team::on(&server), "greet");
}

/// A client that completes the handshake takes a job and answers with these frames. The log has the expected words, and
/// another worker does the job.
#[track_caller]
fn is_done_by_another(server: &Arc<Server>, frames: &[Vec<u8>], expected: &str) {
    let team = Team::on(server);
    let mut attacker = connect(server);
    attacker.write_all(&hello(PROTOCOL, &program_digest())).expect("sent");
    assert_eq!(answer(&mut attacker).expect("an answer")["answer"], "accepted");
    let _worker = worker(server);
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| works(&team, "greet"));
        let mut length = [0; 4];
        attacker.read_exact(&mut length).expect("the job");
        std::io::copy(&mut (&mut attacker).take(u32::from_le_bytes(length).into()), &mut std::io::sink()).expect("all");
        frames.iter().for_each(|bytes| attacker.write_all(&frame(bytes)).expect("sent"));
        publishing.join().expect("a version");
    });
    assert_eq!(answer(&mut attacker), None, "the connection is closed");
    eventually("the violation in the log", || (!server.log_about(expected).is_empty()).then_some(()));
}

/// The attacker reports a step that does not exist.
#[test]
fn a_job_of_a_violating_worker_is_done_by_another() {
    is_done_by_another(&server(), &[vec![0, 0, 4, b'r', b'o', b'o', b't']], "which is not one of");
}

fn python_image(server: &Server) -> Vec<u8> {
    let images = server.artifacts();
    let (image, _) = images.iter().max_by_key(|(_, bytes)| *bytes).expect("the Python image");
    fs::read(image).expect("its bytes")
}

/// The packages of a build become part of signed attestations. The project has none.
#[test]
fn packages_that_the_lock_file_does_not_pin_are_refused() {
    let server = server();
    let digest = registry::Digest::of(&python_image(&server));
    let text = |text: &str| [&[u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
    let package = [text("pypi"), text("safelib"), text("1.0.0"), vec![0]].concat();
    let made = [&[1, 0][..], digest.as_bytes(), &[0, 1], &package, &[0]].concat();
    is_done_by_another(&server, &[made, b"bundle".to_vec()], "other packages than those of the lock file");
}

/// Code that is compiled as the platform's own must be the platform's own.
#[test]
fn a_snapshot_of_another_image_is_refused() {
    let server = server();
    let image = python_image(&server);
    let digest = registry::Digest::of(&image);
    // The image with an additional section.
    let snapshot = [&image[..], &[0, 2, 1, b'x']].concat();
    let made = [&[1, 0][..], digest.as_bytes(), &[1, 0, 0]].concat();
    is_done_by_another(&server, &[made, snapshot, b"bundle".to_vec()], "a snapshot that is not one of the image");
}

/// Runs work in a thread with another user id.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let nobody = scope.spawn(|| {
            let (real, effective, saved) = (-1, NOBODY, -1);
            // SAFETY: the call touches no memory. The library's function would change the user of all threads.
            let changed = unsafe { nix::libc::syscall(nix::libc::SYS_setresuid, real, effective, saved) };
            assert_eq!(changed, 0, "{}", std::io::Error::last_os_error());
            work()
        });
        nobody.join().expect("an end")
    })
}

#[test]
fn another_user_is_refused() {
    if needs::ROOT.require(nix::unistd::geteuid().is_root().then_some(())).is_none() {
        return;
    }
    let server = server();
    let socket = socket_of_workers(&server);
    let mode = fs::metadata(&socket).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let kept_out = as_nobody(|| UnixStream::connect(&socket).expect_err("no permission").kind());
    assert_eq!(kept_out, std::io::ErrorKind::PermissionDenied);
    // The check also holds when all modes allow access.
    let own = server.data().parent().expect("a directory of the test's");
    for path in socket.ancestors().take_while(|path| path.starts_with(own)) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("a mode");
    }
    let said = as_nobody(|| {
        let mut stream = connect(&server);
        let said = answer(&mut stream);
        assert_eq!(answer(&mut stream), None);
        said
    });
    let said = said.expect("an answer");
    assert_eq!(said["answer"], "refused");
    assert!(said["reason"].as_str().expect("text").contains("runs as user 65534"), "{said}");
    assert!(!server.log_about("was refused").is_empty());
}
