//! The key that signs an organisation's versions. It is derived from the data key and not stored.

use std::fmt;

use ring::signature::{Ed25519KeyPair, KeyPair as _};
use zeroize::Zeroizing;

use super::data_key::{DataKey, build_associated_data};
use super::key_ring::compute_keyed_hash;
use crate::error::{Error, Result};
use crate::kit::public_key::PublicKey;

/// The Ed25519 key pair of an organisation.
pub struct SigningKey(Ed25519KeyPair);

impl DataKey {
    pub fn signing_key(&self) -> Result<SigningKey> {
        let seed =
            Zeroizing::new(compute_keyed_hash(self.bytes(), &build_associated_data("derive", &["signing provenance"])));
        let pair = Ed25519KeyPair::from_seed_unchecked(&*seed);
        pair.map(SigningKey).map_err(|error| corrupt(&error.to_string()))
    }
}

impl SigningKey {
    pub fn public_key(&self) -> Result<PublicKey> {
        PublicKey::from_bytes(self.0.public_key().as_ref()).map_err(|error| corrupt(&error.to_string()))
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
}
