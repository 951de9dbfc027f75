//! Public keys, which verify signatures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

use super::invalid_value::InvalidValue;

/// The bytes before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The Ed25519 key that verifies the signatures of an organisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidValue> {
        bytes.try_into().map(Self).map_err(|_| InvalidValue::new("public key", "must have 32 bytes"))
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

#[cfg(test)]
mod tests {
    use super::*;

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
