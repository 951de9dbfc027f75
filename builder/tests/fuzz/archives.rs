//! Archives of crates and npm packages.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// A crate with these entries.
pub fn crate_archive(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (path, kind, bytes) in entries {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o777);
        header.set_cksum();
        archive.append(&header, *bytes).unwrap();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&archive.into_inner().unwrap()).unwrap();
    encoder.finish().unwrap()
}

/// An npm package with entries of these sizes.
pub fn npm_archive(entries: &[(&str, EntryType, usize)]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, kind, bytes) in entries {
        let mut header = Header::new_gnu();
        // `set_path` would refuse such paths.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(*bytes as u64);
        header.set_cksum();
        builder.append(&header, std::io::repeat(b' ').take(*bytes as u64)).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}
