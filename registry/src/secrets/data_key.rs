//! The data key of an organisation, and sealing with it.

use std::fmt;

use chacha20poly1305::aead::{Aead, AeadInPlace, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::kit::account::{AccountId, OrganizationId};
use crate::kit::byte_cache::HeapBytes;
use crate::kit::ids::ToolId;
use crate::kit::random;

/// The first byte of every sealed value. Another cipher gets another number.
const FORMAT: u8 = 1;
/// Random nonces of this length do not collide within any realistic number of values.
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
/// Bytes that sealing adds to a value.
pub(super) const SEAL_BYTES: usize = 1 + NONCE_BYTES + TAG_BYTES;

/// The key of one organisation. It is wiped when dropped.
#[derive(Clone)]
pub struct DataKey {
    id: String,
    bytes: Zeroizing<[u8; 32]>,
}

impl HeapBytes for DataKey {
    fn heap_bytes(&self) -> usize {
        self.id.heap_bytes()
    }
}

/// The row that a sealed value belongs to.
#[derive(Clone, Copy, Debug)]
pub struct SealedFor<'a> {
    pub organization: &'a OrganizationId,
    pub owner: VariableOwner<'a>,
    pub name: &'a str,
}

/// The tool or the user that has a variable.
#[derive(Clone, Copy, Debug)]
pub enum VariableOwner<'a> {
    Tool(&'a ToolId),
    User(&'a AccountId),
}

impl DataKey {
    pub fn generate() -> Self {
        Self::from_parts(hex::encode(random::bytes::<8>()), Zeroizing::new(random::bytes()))
    }

    pub(super) const fn from_parts(id: String, bytes: Zeroizing<[u8; 32]>) -> Self {
        Self { id, bytes }
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Returns the id of the key in stored rows, which is not secret.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn seal(&self, place: SealedFor<'_>, value: &str) -> Result<Vec<u8>> {
        seal(&self.bytes, &self.bound_to(place), value.as_bytes())
    }

    pub fn open(&self, place: SealedFor<'_>, sealed: &[u8]) -> Result<Zeroizing<String>> {
        let mut opened = open(&self.bytes, &self.bound_to(place), sealed)?;
        let text = String::from_utf8(std::mem::take(&mut *opened));
        text.map(Zeroizing::new).map_err(|_| unreadable())
    }

    fn bound_to(&self, place: SealedFor<'_>) -> Vec<u8> {
        let (purpose, owner) = match place.owner {
            VariableOwner::Tool(tool) => ("variable", tool.as_str()),
            VariableOwner::User(user) => ("user variable", user.as_str()),
        };
        build_associated_data(purpose, &[place.organization.as_str(), owner, place.name, &self.id])
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DataKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Joins the purpose and the parts, each with its length before it, so that different lists yield different bytes.
pub(crate) fn build_associated_data(purpose: &str, parts: &[&str]) -> Vec<u8> {
    let all = || std::iter::once(&purpose).chain(parts);
    let mut joined = Vec::with_capacity(all().map(|part| size_of::<u64>() + part.len()).sum());
    for part in all() {
        joined.extend((part.len() as u64).to_be_bytes());
        joined.extend(part.as_bytes());
    }
    joined
}

pub(super) fn seal(key: &[u8; 32], bound_to: &[u8], value: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Zeroizing::new(Vec::with_capacity(value.len() + SEAL_BYTES));
    copy.extend(value);
    seal_in_place(key, bound_to, copy)
}

/// Seals a value in its buffer, so that no plain copy is left. The value must never have been longer.
pub(super) fn seal_in_place(key: &[u8; 32], bound_to: &[u8], mut value: Zeroizing<Vec<u8>>) -> Result<Vec<u8>> {
    if value.capacity() - value.len() < SEAL_BYTES {
        return seal(key, bound_to, &value);
    }
    let nonce: [u8; NONCE_BYTES] = random::bytes();
    let cipher = XChaCha20Poly1305::new(Key::from_slice(key));
    value.splice(..0, std::iter::once(FORMAT).chain(nonce));
    let body = &mut value[1 + NONCE_BYTES..];
    let tag = cipher.encrypt_in_place_detached(XNonce::from_slice(&nonce), bound_to, body).map_err(|_| unreadable())?;
    value.extend(tag);
    let mut sealed = std::mem::take(&mut *value);
    // The value may wait for the database, and the buffer of a compressed value is as large as the original.
    sealed.shrink_to_fit();
    Ok(sealed)
}

pub(super) fn open(key: &[u8; 32], bound_to: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let (&format, rest) = sealed.split_first().ok_or_else(unreadable)?;
    let (nonce, body) = rest.split_at_checked(NONCE_BYTES).ok_or_else(unreadable)?;
    if format != FORMAT {
        return Err(unreadable());
    }
    let cipher = XChaCha20Poly1305::new(Key::from_slice(key));
    let opened = cipher.decrypt(XNonce::from_slice(nonce), Payload { msg: body, aad: bound_to });
    opened.map(Zeroizing::new).map_err(|_| unreadable())
}

fn unreadable() -> Error {
    Error::Corrupt { what: "sealed value", detail: "it cannot be opened with the key of its row".to_owned() }
}
