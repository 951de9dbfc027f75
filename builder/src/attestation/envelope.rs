//! A signed statement: a DSSE envelope (Dead Simple Signing Envelope, version 1).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use registry::{PublicKey, SigningKey};
use serde_json::json;

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The envelope, as JSON.
pub fn seal(statement: &str, key: &SigningKey, public: &PublicKey) -> String {
    let signature = key.sign(&signed_bytes(PAYLOAD_TYPE, statement.as_bytes()));
    json!({
        "payloadType": PAYLOAD_TYPE,
        "payload": STANDARD.encode(statement),
        "signatures": [{"keyid": public.id(), "sig": STANDARD.encode(signature)}],
    })
    .to_string()
}

/// DSSE's pre-authentication encoding: type and payload, each with its length before it.
fn signed_bytes(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use registry::DataKey;
    use serde_json::Value;

    #[test]
    fn what_is_signed_is_as_the_specification_has_it() {
        // The example of the DSSE protocol's document.
        let bytes = signed_bytes("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn the_envelope_opens_with_the_public_key() {
        let key = DataKey::generate().signing_key().unwrap();
        let public = key.public_key().unwrap();
        let envelope: Value = serde_json::from_str(&seal("{}", &key, &public)).unwrap();
        let text = |pointer: &str| envelope.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        let (payload, signature) = (text("/payload"), text("/signatures/0/sig"));
        let (payload, signature) = (STANDARD.decode(payload).unwrap(), STANDARD.decode(signature).unwrap());
        assert!(public.verifies(&signed_bytes(&text("/payloadType"), &payload), &signature));
        assert_eq!(text("/signatures/0/keyid"), public.id());
    }
}
