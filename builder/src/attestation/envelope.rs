//! Signed statements, as DSSE envelopes (Dead Simple Signing Envelope, version 1).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use registry::{PublicKey, SigningKey};
use serde_json::{Value, json};

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Signs a statement and returns its envelope as JSON.
pub fn seal(statement: &str, key: &SigningKey, public: &PublicKey) -> String {
    let signature = key.sign(&encode_signed(PAYLOAD_TYPE, statement.as_bytes()));
    json!({
        "payloadType": PAYLOAD_TYPE,
        "payload": STANDARD.encode(statement),
        "signatures": [{"keyid": public.id(), "sig": STANDARD.encode(signature)}],
    })
    .to_string()
}

/// The statement in an envelope. `None` when the envelope is malformed or its signature is invalid.
pub fn open(envelope: &str, public: &PublicKey) -> Option<Value> {
    let envelope: Value = serde_json::from_str(envelope).ok()?;
    let bytes = |pointer: &str| STANDARD.decode(envelope.pointer(pointer)?.as_str()?).ok();
    let (payload, signature) = (bytes("/payload")?, bytes("/signatures/0/sig")?);
    let payload_type = envelope["payloadType"].as_str()?;
    let is_valid = public.verifies(&encode_signed(payload_type, &payload), &signature);
    if is_valid && payload_type == PAYLOAD_TYPE { serde_json::from_slice(&payload).ok() } else { None }
}

/// DSSE's pre-authentication encoding: type and payload, each preceded by its length.
fn encode_signed(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use registry::DataKey;

    #[test]
    fn signed_bytes_match_the_specification() {
        // The example in the DSSE protocol document.
        let bytes = encode_signed("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn the_envelope_opens_with_the_public_key() {
        let key = DataKey::generate().signing_key().unwrap();
        let public = key.public_key().unwrap();
        let envelope = seal("{\"a\":1}", &key, &public);
        assert_eq!(open(&envelope, &public), Some(json!({"a": 1})));
        let other = DataKey::generate().signing_key().unwrap().public_key().unwrap();
        assert_eq!(open(&envelope, &other), None);
        let payload = STANDARD.encode("{\"a\":1}");
        for (found, forged) in [(payload.as_str(), STANDARD.encode("{\"a\":2}")), ("in-toto", "in-tutto".into())] {
            assert!(envelope.contains(found), "{envelope}");
            assert_eq!(open(&envelope.replace(found, &forged), &public), None, "{found}");
        }
    }
}
