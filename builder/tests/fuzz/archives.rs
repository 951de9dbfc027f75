//! Archives of crates and npm packages.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// The bytes of a tar block, and the offsets of a header's magic and checksum in it.
const BLOCK_BYTES: usize = 512;
const MAGIC: std::ops::Range<usize> = 257..262;
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// A compressed archive of these bytes, in which the checksums of all headers are right, so that a changed archive is read
/// to its end.
pub fn packed(tar: &[u8]) -> Vec<u8> {
    let mut tar = tar.to_vec();
    for block in tar.chunks_exact_mut(BLOCK_BYTES).filter(|block| block[MAGIC] == *b"ustar") {
        block[CHECKSUM].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    gzip(&tar)
}

/// A gzip stream.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An uncompressed archive with a file, a long name of each format, and a directory below `top`.
pub fn tar(top: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, format!("{top}/{path}"), text.as_bytes()).unwrap();
    }
    let long = format!("{top}/{}.js", "long/".repeat(40));
    archive.append_data(&mut Header::new_gnu(), &long, &b""[..]).unwrap();
    archive.append_pax_extensions([("path", long.as_bytes()), ("size", &b"0"[..])]).unwrap();
    let mut header = Header::new_ustar();
    header.set_path(format!("{top}/short.js")).unwrap();
    header.set_size(0);
    header.set_cksum();
    archive.append(&header, &b""[..]).unwrap();
    header.set_entry_type(EntryType::Directory);
    header.set_cksum();
    archive.append(&header, &b""[..]).unwrap();
    archive.into_inner().unwrap()
}

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
    gzip(&archive.into_inner().unwrap())
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
