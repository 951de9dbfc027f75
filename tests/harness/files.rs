//! A file server on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// File contents by path.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Serves files until the tests end, and returns the base URL.
pub fn serve_files(make: impl FnOnce(&str) -> Files) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let files = Arc::new(make(&url));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = files.clone();
            // Clients may disconnect early.
            std::thread::spawn(move || answer(stream, &files));
        }
    });
    url
}

fn answer(mut stream: TcpStream, files: &Files) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let (status, body) = match files.get(request.split(' ').nth(1).unwrap_or_default()) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &[][..]),
    };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(body)
}
