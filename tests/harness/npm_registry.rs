//! An npm registry on loopback, with archives that tests make.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

/// Archives by path.
type Archives = BTreeMap<String, Vec<u8>>;

pub struct NpmRegistry {
    pub url: String,
}

impl NpmRegistry {
    /// Serves packages by name and version until the tests end.
    pub fn serve(packages: &[(&str, &str, &[u8])]) -> Self {
        let path = |name: &str, version: &str| {
            format!("/npm/{name}/-/{}-{version}.tgz", name.rsplit('/').next().unwrap_or(name))
        };
        let served = packages.iter().map(|(name, version, archive)| (path(name, version), archive.to_vec()));
        let served: Arc<Archives> = Arc::new(served.collect());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/npm/", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                // A client that goes away early hurts nobody.
                std::thread::spawn(move || answer(stream, &served));
            }
        });
        Self { url }
    }
}

fn answer(mut stream: TcpStream, archives: &Archives) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let (status, body) = match archives.get(request.split(' ').nth(1).unwrap_or_default()) {
        Some(archive) => ("200 OK", archive.as_slice()),
        None => ("404 Not Found", &[][..]),
    };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
    stream.write_all(body)
}

/// A package's archive.
pub fn npm_archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("package/{path}"), text.as_bytes()).expect("an entry");
    }
    archive.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

/// A package's entry in a lock file.
pub fn npm_entry(version: &str, archive: &[u8]) -> Value {
    json!({"version": version, "integrity": format!("sha512-{}", STANDARD.encode(Sha512::digest(archive)))})
}

/// `package-lock.json` of a project with these dependencies and packages.
pub fn npm_lock(dependencies: &Value, packages: &[(&str, Value)]) -> String {
    let mut all = json!({"": {"dependencies": dependencies}});
    for (directory, entry) in packages {
        all[*directory] = entry.clone();
    }
    serde_json::to_string_pretty(&json!({"lockfileVersion": 3, "packages": all})).expect("JSON")
}
