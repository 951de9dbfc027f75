//! Sealing tapes and their bodies: made small first, then sealed for the place where they lie.

use zeroize::Zeroizing;

use super::data_key::{DataKey, SEAL_BYTES, associated_data, open, seal_there};
use super::key_ring::keyed_hash;
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::ids::InvocationId;

/// Below this, packing takes longer than it saves.
const PACKED_BYTES_MIN: usize = 4 << 10;
/// The fastest of those that find repetitions far apart.
const LEVEL: i32 = 1;
/// More than any tape, body or answer is.
const UNPACKED_BYTES_MAX: usize = 64 << 20;

/// What is added to contents that are not packed.
const ROOM_BYTES: usize = 1 + SEAL_BYTES;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

impl DataKey {
    /// Seals the tape of a run.
    pub fn seal_tape(
        &self,
        organization: &OrganizationId,
        run: &InvocationId,
        tape: Zeroizing<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let place = associated_data("tape", &[organization.as_str(), run.as_str(), self.id()]);
        seal_there(self.bytes(), &place, packed_there(tape)?)
    }

    /// Opens what [`DataKey::seal_tape`] sealed for the same run.
    pub fn open_tape(
        &self,
        organization: &OrganizationId,
        run: &InvocationId,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let place = associated_data("tape", &[organization.as_str(), run.as_str(), self.id()]);
        unpacked(&open(self.bytes(), &place, sealed)?)
    }

    /// What a body is kept under: no other organisation has the same for the same body.
    pub fn body_digest(&self, digest: &[u8; 32]) -> [u8; 32] {
        let key = Zeroizing::new(keyed_hash(self.bytes(), &associated_data("derive", &["tape bodies"])));
        keyed_hash(&key, digest)
    }

    /// Seals a body, given what it is kept under.
    pub fn seal_body(&self, organization: &OrganizationId, digest: &[u8; 32], body: &[u8]) -> Result<Vec<u8>> {
        let place = associated_data("tape body", &[organization.as_str(), &hex::encode(digest), self.id()]);
        seal_there(self.bytes(), &place, packed(body)?)
    }

    /// Opens what [`DataKey::seal_body`] sealed.
    pub fn open_body(
        &self,
        organization: &OrganizationId,
        digest: &[u8; 32],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let place = associated_data("tape body", &[organization.as_str(), &hex::encode(digest), self.id()]);
        unpacked(&open(self.bytes(), &place, sealed)?)
    }
}

/// A copy that can be sealed where it is.
pub(super) fn packed(contents: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    if contents.len() < PACKED_BYTES_MIN {
        let mut copy = Zeroizing::new(Vec::with_capacity(contents.len() + ROOM_BYTES));
        copy.extend(contents);
        copy.push(PLAIN);
        return Ok(copy);
    }
    let mut packed = zstd::bulk::compress(contents, LEVEL).map_err(|error| damaged(&error.to_string()))?;
    packed.push(ZSTD);
    Ok(Zeroizing::new(packed))
}

/// The same, without a copy of what is small.
fn packed_there(mut contents: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>> {
    if contents.len() >= PACKED_BYTES_MIN || contents.len() == contents.capacity() {
        return packed(&contents);
    }
    contents.push(PLAIN);
    Ok(contents)
}

pub(super) fn unpacked(packed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    match packed.split_last() {
        Some((&PLAIN, contents)) => Ok(Zeroizing::new(contents.to_vec())),
        Some((&ZSTD, contents)) => {
            let size = zstd::zstd_safe::get_frame_content_size(contents).ok().flatten();
            let size = size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= UNPACKED_BYTES_MAX);
            let size = size.ok_or_else(|| damaged("it is too large"))?;
            let contents = zstd::bulk::decompress(contents, size).map_err(|error| damaged(&error.to_string()))?;
            Ok(Zeroizing::new(contents))
        }
        _ => Err(damaged("its form is unknown")),
    }
}

fn damaged(detail: &str) -> Error {
    Error::Corrupt { what: "sealed value", detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn organization(name: &str) -> OrganizationId {
        OrganizationId::parse(name).unwrap()
    }

    #[test]
    fn a_tape_opens_where_it_was_sealed_for_and_nowhere_else() {
        let (key, acme) = (DataKey::generate(), organization("acme"));
        let (run, other) = (InvocationId::new(&Clock::system()), InvocationId::new(&Clock::system()));
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
    fn equal_bodies_of_two_organizations_cannot_be_told() {
        let (one, two, digest) = (DataKey::generate(), DataKey::generate(), [9; 32]);
        assert_eq!(one.body_digest(&digest), one.body_digest(&digest));
        assert_ne!(one.body_digest(&digest), two.body_digest(&digest));
        let kept = one.body_digest(&digest);
        let sealed = one.seal_body(&organization("acme"), &kept, b"body").unwrap();
        assert_eq!(*one.open_body(&organization("acme"), &kept, &sealed).unwrap(), b"body");
    }
}
