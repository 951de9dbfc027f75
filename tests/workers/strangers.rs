//! Who is not let in, or speaks as no worker does.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{server, worker, works};
use crate::harness::{Server, Team, Worker, eventually, socket_of_workers};

const READ_TIME_MAX: Duration = Duration::from_secs(60);
const END_TIME_MAX: Duration = Duration::from_secs(60);
/// That of the binary under test.
const PROTOCOL: u64 = 2;
/// Has no rights on most machines.
const NOBODY: u32 = 65_534;

fn connect(server: &Server) -> UnixStream {
    let stream = UnixStream::connect(socket_of_workers(server)).expect("the server listens");
    stream.set_read_timeout(Some(READ_TIME_MAX)).expect("a timeout");
    stream
}

fn frame(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).expect("short").to_le_bytes()[..], bytes].concat()
}

fn greeting(protocol: u64, program: &str) -> Vec<u8> {
    frame(json!({"role": "worker", "protocol": protocol, "program": program}).to_string().as_bytes())
}

/// The next frame as JSON; nothing when the other side has closed.
fn answer(stream: &mut UnixStream) -> Option<Value> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).expect("JSON"))
}

fn program_digest() -> String {
    let program = fs::read(env!("CARGO_BIN_EXE_lathe")).expect("the program");
    registry::Digest::of(&program).to_string()
}

#[test]
fn another_release_is_refused_with_what_to_do() {
    let server = server();
    let mut stream = connect(&server);
    stream.write_all(&greeting(1_000, "sha256:1")).expect("sent");
    let said = answer(&mut stream).expect("an answer");
    assert_eq!(said["answer"], "refused");
    assert!(said["reason"].as_str().expect("text").contains("version 1000 of the protocol"), "{said}");
    assert_eq!(answer(&mut stream), None, "and the connection ends");
    // A real one, from a file that is a byte longer.
    let other = server.data().with_file_name("lathe-of-another-build");
    fs::copy(env!("CARGO_BIN_EXE_lathe"), &other).expect("a copy");
    fs::File::options().append(true).open(&other).and_then(|mut file| file.write_all(b"\n")).expect("a byte more");
    let mut worker = Worker::start(server.data(), &[], &other);
    assert_eq!(worker.ended_within(END_TIME_MAX).and_then(|status| status.code()), Some(1), "{}", worker.said());
    assert!(worker.said().contains("another build of lathe"), "{}", worker.said());
}

#[test]
fn rubbish_ends_its_connection_and_nothing_else() {
    let server = server();
    let greeted = |rest: &[u8]| [greeting(PROTOCOL, &program_digest()), rest.to_vec()].concat();
    for bytes in [
        vec![0xff; 4],
        vec![0; 100],
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        frame(b"{"),
        frame(&[b'['; 4_000]),
        frame(br#"{"role": "king", "protocol": 2, "program": ""}"#),
        greeted(&[0xff; 8]),
        greeted(&frame(&[])),
        greeted(&frame(&[9, 9, 9])),
        // It speaks of a job that it does not have.
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

/// One that knows the greeting takes a job and answers with these frames, which the log tells of in such words; another one
/// does the job.
#[track_caller]
fn is_done_by_another(server: &Arc<Server>, frames: &[Vec<u8>], expected: &str) {
    let team = Team::on(server);
    let mut stranger = connect(server);
    stranger.write_all(&greeting(PROTOCOL, &program_digest())).expect("sent");
    assert_eq!(answer(&mut stranger).expect("an answer")["answer"], "accepted");
    let _worker = worker(server);
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| works(&team, "greet"));
        let mut length = [0; 4];
        stranger.read_exact(&mut length).expect("the job");
        std::io::copy(&mut (&mut stranger).take(u32::from_le_bytes(length).into()), &mut std::io::sink()).expect("all");
        frames.iter().for_each(|bytes| stranger.write_all(&frame(bytes)).expect("sent"));
        publishing.join().expect("a version");
    });
    eventually("its end in the log", || (!server.log_about(expected).is_empty()).then_some(()));
}

/// It tells the start of a step that there is not.
#[test]
fn a_job_that_a_stranger_took_is_done_by_another() {
    is_done_by_another(&server(), &[vec![0, 0, 4, b'r', b'o', b'o', b't']], "which is none of");
}

/// What is compiled as the platform's own code has to be its own.
#[test]
fn a_snapshot_that_is_none_of_the_servers_image_is_not_taken() {
    let server = server();
    let images = server.artifacts();
    let (image, _) = images.iter().max_by_key(|(_, bytes)| *bytes).expect("the Python image");
    let image = fs::read(image).expect("its bytes");
    let digest = registry::Digest::of(&image);
    // One section more than the image has, which nobody asked for.
    let snapshot = [&image[..], &[0, 2, 1, b'x']].concat();
    let made = [&[1, 0][..], digest.as_bytes(), &[1, 0, 0]].concat();
    is_done_by_another(&server, &[made, snapshot, b"bundle".to_vec()], "a snapshot that is none of the image");
}

/// This thread alone becomes somebody else.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let nobody = scope.spawn(|| {
            let (real, effective, saved) = (-1, NOBODY, -1);
            // SAFETY: no memory is touched; the system call itself, since the library's function speaks for all threads.
            let changed = unsafe { nix::libc::syscall(nix::libc::SYS_setresuid, real, effective, saved) };
            assert_eq!(changed, 0, "{}", std::io::Error::last_os_error());
            work()
        });
        nobody.join().expect("an end")
    })
}

#[test]
fn another_user_is_not_let_in() {
    if !nix::unistd::geteuid().is_root() {
        return println!("not tried: only root can be somebody else");
    }
    let server = server();
    let socket = socket_of_workers(&server);
    let mode = fs::metadata(&socket).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let kept_out = as_nobody(|| UnixStream::connect(&socket).expect_err("no way in").kind());
    assert_eq!(kept_out, std::io::ErrorKind::PermissionDenied);
    // Even where somebody opened all doors.
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
    assert!(said["reason"].as_str().expect("text").contains("belongs to user 65534"), "{said}");
    assert!(!server.log_about("was sent away").is_empty());
}
