//! Sealing tapes and their bodies. Values are compressed, then sealed for their row.

use zeroize::Zeroizing;

use super::data_key::{DataKey, SEAL_BYTES, build_associated_data, open, seal_in_place};
use super::key_ring::compute_keyed_hash;
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::ids::RunId;

/// Size from which values are compressed. Compressing smaller values costs more than it saves.
const COMPRESSED_BYTES_MIN: usize = 4 << 10;
/// Compression level of zstd: the fastest one that finds distant repetitions.
const LEVEL: i32 = 1;
/// Size of decompressed contents. All tapes, bodies and answers are smaller.
const UNCOMPRESSED_BYTES_MAX: usize = 64 << 20;

/// Bytes that are added to uncompressed contents.
const ADDED_BYTES: usize = 1 + SEAL_BYTES;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

impl DataKey {
    /// Seals the tape of a run.
    pub fn seal_tape(&self, organization: &OrganizationId, run: &RunId, tape: Zeroizing<Vec<u8>>) -> Result<Vec<u8>> {
        let place = build_associated_data("tape", &[organization.as_str(), run.as_str(), self.id()]);
        seal_in_place(self.bytes(), &place, compress_in_place(tape)?)
    }

    /// Opens a tape that [`DataKey::seal_tape`] sealed for the same run.
    pub fn open_tape(&self, organization: &OrganizationId, run: &RunId, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let place = build_associated_data("tape", &[organization.as_str(), run.as_str(), self.id()]);
        decompress(&open(self.bytes(), &place, sealed)?)
    }

    /// Returns the keyed digest of a body, given its SHA-256. It differs between organisations.
    pub fn body_digest(&self, digest: &[u8; 32]) -> [u8; 32] {
        let key = Zeroizing::new(compute_keyed_hash(self.bytes(), &build_associated_data("derive", &["tape bodies"])));
        compute_keyed_hash(&key, digest)
    }

    /// Seals a body, given its keyed digest.
    pub fn seal_body(&self, organization: &OrganizationId, digest: &[u8; 32], body: &[u8]) -> Result<Vec<u8>> {
        let place = build_associated_data("tape body", &[organization.as_str(), &hex::encode(digest), self.id()]);
        seal_in_place(self.bytes(), &place, compress(body)?)
    }

    /// Opens a body that [`DataKey::seal_body`] sealed.
    pub fn open_body(
        &self,
        organization: &OrganizationId,
        digest: &[u8; 32],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let place = build_associated_data("tape body", &[organization.as_str(), &hex::encode(digest), self.id()]);
        decompress(&open(self.bytes(), &place, sealed)?)
    }
}

/// Compresses a copy, with spare capacity for sealing in place.
pub(super) fn compress(contents: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    if contents.len() < COMPRESSED_BYTES_MIN {
        let mut copy = Zeroizing::new(Vec::with_capacity(contents.len() + ADDED_BYTES));
        copy.extend(contents);
        copy.push(PLAIN);
        return Ok(copy);
    }
    let mut compressed = zstd::bulk::compress(contents, LEVEL).map_err(|error| damaged(&error.to_string()))?;
    compressed.push(ZSTD);
    Ok(Zeroizing::new(compressed))
}

/// Like [`compress`], without a copy of a small value.
fn compress_in_place(mut contents: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
    if contents.len() >= COMPRESSED_BYTES_MIN || contents.len() == contents.capacity() {
        return compress(&contents);
    }
    contents.push(PLAIN);
    Ok(contents)
}

pub(super) fn decompress(compressed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    match compressed.split_last() {
        Some((&PLAIN, contents)) => Ok(Zeroizing::new(contents.to_vec())),
        Some((&ZSTD, contents)) => {
            let size = zstd::zstd_safe::get_frame_content_size(contents).ok().flatten();
            let size = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= UNCOMPRESSED_BYTES_MAX);
            let size = size.ok_or_else(|| damaged("it is too large"))?;
            let contents = zstd::bulk::decompress(contents, size).map_err(|error| damaged(&error.to_string()))?;
            Ok(Zeroizing::new(contents))
        }
        _ => Err(damaged("its format is unknown")),
    }
}

fn damaged(detail: &str) -> Error {
    Error::Corrupt { what: "sealed value", detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::clock::Clock;

    fn organization(name: &str) -> OrganizationId {
        OrganizationId::parse(name).unwrap()
    }

    #[test]
    fn a_tape_opens_only_in_its_row() {
        let (key, acme) = (DataKey::generate(), organization("acme"));
        let (run, other) = (RunId::new(&Clock::system()), RunId::new(&Clock::system()));
        for tape in [&b"small"[..], &[7; 100_000], b""] {
            let sealed = key.seal_tape(&acme, &run, Zeroizing::new(tape.to_vec())).unwrap();
            assert!(sealed.len() < 1_000);
            assert_eq!(*key.open_tape(&acme, &run, &sealed).unwrap(), tape);
            assert!(key.open_tape(&acme, &other, &sealed).is_err());
            assert!(key.open_tape(&organization("other"), &run, &sealed).is_err());
            assert!(DataKey::generate().open_tape(&acme, &run, &sealed).is_err());
            assert!(key.open_body(&acme, &[0; 32], &sealed).is_err());
            for place in 0..sealed.len().min(80) {
                let mut flipped = sealed.clone();
                flipped[place] ^= 1;
                assert!(key.open_tape(&acme, &run, &flipped).is_err(), "byte {place}");
            }
        }
    }

    #[test]
    fn equal_bodies_of_two_organizations_have_different_digests() {
        let (one, two, digest) = (DataKey::generate(), DataKey::generate(), [9; 32]);
        assert_eq!(one.body_digest(&digest), one.body_digest(&digest));
        assert_ne!(one.body_digest(&digest), two.body_digest(&digest));
        let kept = one.body_digest(&digest);
        let sealed = one.seal_body(&organization("acme"), &kept, b"body").unwrap();
        assert_eq!(*one.open_body(&organization("acme"), &kept, &sealed).unwrap(), b"body");
    }
}
