//! A package index on loopback: the simple API as JSON (PEP 691), with the wheels of a test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use super::Latch;

/// Wheels by file name, by package name.
type Packages = BTreeMap<String, Vec<(String, Vec<u8>)>>;

/// The package whose page a server requests at its start.
const CHECKED_PACKAGE: &str = "six";

pub struct PackageIndex {
    pub url: String,
    /// Holds every response until it is opened, if the index was served held.
    pub held: Latch,
}

impl PackageIndex {
    /// Serves packages until the tests end, below `/simple` as JSON and below `/html` only as HTML.
    pub fn serve(packages: &[(&str, &str, &[u8])]) -> Self {
        let index = Self::serve_held(packages);
        index.held.open();
        index
    }

    /// Serves packages, but holds every response until the latch is open, so that a build stops in the middle.
    pub fn serve_held(packages: &[(&str, &str, &[u8])]) -> Self {
        let held = Latch::default();
        let mut served = Packages::new();
        for (package, file, bytes) in packages {
            served.entry((*package).to_owned()).or_default().push(((*file).to_owned(), bytes.to_vec()));
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/simple", listener.local_addr().expect("an address"));
        let (served, latch) = (Arc::new(served), held.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (served, latch) = (served.clone(), latch.clone());
                // Clients may disconnect early.
                std::thread::spawn(move || {
                    // Builds are held, and not the check of registries at the start of a server.
                    if served.contains_key(CHECKED_PACKAGE) || !is_registry_check(&stream) {
                        latch.pass();
                    }
                    answer(stream, &served)
                });
            }
        });
        Self { url, held }
    }
}

/// An index with one package, whose responses are held.
pub struct HeldPackage {
    pub index: PackageIndex,
    /// The line of a lock file for the package.
    pub lock_line: String,
}

impl HeldPackage {
    /// Other contents in each run of the tests, so that no cache has the package.
    pub fn new(name: &str) -> Self {
        let (version, source) = ("1.0", format!("RUN = {}\n", std::process::id()));
        let wheel = package_wheel(name, version, &[(&format!("{name}.py"), &source)]);
        let file = format!("{name}-{version}-py3-none-any.whl");
        let index = PackageIndex::serve_held(&[(name, &file, &wheel)]);
        Self { index, lock_line: lock_line(name, version, &wheel) }
    }
}

/// Whether a connection is that of the check of registries at the start of a server or a worker.
pub fn is_registry_check(stream: &TcpStream) -> bool {
    let wanted = format!("GET /simple/{CHECKED_PACKAGE}/ ");
    let mut request = [0; 64];
    // A client that sends nothing more is none.
    while let Ok(bytes @ 1..) = stream.peek(&mut request) {
        if bytes >= wanted.len() || request[..bytes].contains(&b'\n') {
            return request[..bytes].starts_with(wanted.as_bytes());
        }
    }
    false
}

fn answer(mut stream: TcpStream, packages: &Packages) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match body(path, packages) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body)
}

fn body(path: &str, packages: &Packages) -> Option<Vec<u8>> {
    if let Some(name) = path.strip_prefix("/files/") {
        let mut files = packages.values().flatten();
        return files.find(|(file, _)| file == name).map(|(_, bytes)| bytes.clone());
    }
    if let Some(name) = path.strip_prefix("/html/") {
        return Some(html_page(packages.get(name.trim_end_matches('/'))?));
    }
    let name = path.strip_prefix("/simple/")?.trim_end_matches('/');
    Some(json_page(name, packages.get(name)?))
}

fn json_page(name: &str, files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let entry = |(file, bytes): &(String, Vec<u8>)| json!({"filename": file, "url": format!("/files/{file}"), "hashes": {"sha256": sha256(bytes)}});
    let files: Vec<_> = files.iter().map(entry).collect();
    json!({"meta": {"api-version": "1.0"}, "name": name, "files": files}).to_string().into_bytes()
}

fn html_page(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let link = |(file, bytes): &(String, Vec<u8>)| {
        format!("<a href=\"../../files/{file}#sha256={}\">{file}</a><br/>\n", sha256(bytes))
    };
    let links: String = files.iter().map(link).collect();
    format!("<!DOCTYPE html>\n<html><body>\n{links}</body></html>\n").into_bytes()
}

/// A package's wheel, with its metadata.
pub fn package_wheel(name: &str, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nA package.\n");
    let path = format!("{name}-{version}.dist-info/METADATA");
    wheel(&[files, &[(path.as_str(), metadata.as_str())]].concat())
}

/// Makes a zip archive of files.
pub fn wheel(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a file in the wheel");
        writer.write_all(contents.as_bytes()).expect("its bytes");
    }
    writer.finish().expect("a wheel").into_inner()
}

/// The line of a lock file for a wheel.
pub fn lock_line(package: &str, version: &str, wheel: &[u8]) -> String {
    format!("{package}=={version} --hash=sha256:{}\n", sha256(wheel))
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
