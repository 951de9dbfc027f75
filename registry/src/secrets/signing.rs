//! The key that signs an organisation's versions. It is derived from the data key and not stored.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::data_key::{DataKey, associated_data};
use super::key_ring::keyed_hash;
use crate::error::{Error, Result};

/// The bytes before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The Ed25519 key pair of an organisation.
pub struct SigningKey(Ed25519KeyPair);

/// The public key of a [`SigningKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl DataKey {
    pub fn signing_key(&self) -> Result<SigningKey> {
        let seed = Zeroizing::new(keyed_hash(self.bytes(), &associated_data("derive", &["signing provenance"])));
        let pair = Ed25519KeyPair::from_seed_unchecked(&*seed);
        pair.map(SigningKey).map_err(|error| corrupt(&error.to_string()))
    }
}

impl SigningKey {
    pub fn public_key(&self) -> Result<PublicKey> {
        PublicKey::from_bytes(self.0.public_key().as_ref())
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).as_ref().to_vec()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningKey")
    }
}

impl PublicKey {
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        bytes.try_into().map(Self).map_err(|_| corrupt("a public key has 32 bytes"))
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the id of the key: the SHA-256 of its SubjectPublicKeyInfo, in hexadecimal.
    pub fn id(&self) -> String {
        hex::encode(Sha256::digest(self.to_der()))
    }

    /// Returns the key in PEM, the format of `openssl`.
    pub fn to_pem(&self) -> String {
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(self.to_der()))
    }

    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }

    fn to_der(self) -> [u8; 44] {
        let mut der = [0; 44];
        der[..SPKI_PREFIX.len()].copy_from_slice(&SPKI_PREFIX);
        der[SPKI_PREFIX.len()..].copy_from_slice(&self.0);
        der
    }
}

fn corrupt(detail: &str) -> Error {
    Error::Corrupt { what: "signing key", detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_valid_for_one_key_and_one_message() {
        let (data_key, other) = (DataKey::generate(), DataKey::generate());
        let (key, again) = (data_key.signing_key().unwrap(), data_key.signing_key().unwrap());
        let public = key.public_key().unwrap();
        assert_eq!(public, again.public_key().unwrap());
        let mut signature = key.sign(b"message");
        assert!(public.verifies(b"message", &signature) && !public.verifies(b"massage", &signature));
        assert!(!other.signing_key().unwrap().public_key().unwrap().verifies(b"message", &signature));
        signature[7] ^= 1;
        assert!(!public.verifies(b"message", &signature));
    }

    #[test]
    fn a_key_is_written_in_the_format_of_openssl() {
        // The public key of the first test of RFC 8032, with the output of `openssl pkey -pubin -outform DER`.
        let bytes = hex::decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a").unwrap();
        let key = PublicKey::from_bytes(&bytes).unwrap();
        let pem = key.to_pem();
        assert!(pem.contains("MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="), "{pem}");
        assert_eq!(key.id().len(), 64);
        assert!(PublicKey::from_bytes(b"short").is_err());
    }
}
