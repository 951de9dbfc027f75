//! Sealing recorded answers. Each is bound to its tool and its request.

use zeroize::Zeroizing;

use super::data_key::{DataKey, build_associated_data, open, seal_in_place};
use super::key_ring::compute_keyed_hash;
use super::tapes::{compress, decompress};
use crate::error::Result;
use crate::kit::account::OrganizationId;
use crate::kit::ids::ToolId;

/// The row that a recorded answer belongs to.
#[derive(Clone, Copy, Debug)]
pub struct AnswerTo<'a> {
    pub organization: &'a OrganizationId,
    pub tool: &'a ToolId,
    /// The keyed digest of the request.
    pub request: &'a [u8; 32],
}

impl DataKey {
    /// Returns the keyed digest of a request, given its SHA-256. It differs between tools and organisations.
    pub fn request_digest(&self, tool: &ToolId, request: &[u8; 32]) -> [u8; 32] {
        let label = build_associated_data("derive", &["recorded answers", tool.as_str()]);
        let key = Zeroizing::new(compute_keyed_hash(self.bytes(), &label));
        compute_keyed_hash(&key, request)
    }

    pub fn seal_answer(&self, to: AnswerTo<'_>, answer: &[u8]) -> Result<Vec<u8>> {
        seal_in_place(self.bytes(), &self.build_associated_data(to), compress(answer)?)
    }

    /// Opens an answer that [`DataKey::seal_answer`] sealed for the same row.
    pub fn open_answer(&self, to: AnswerTo<'_>, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        decompress(&open(self.bytes(), &self.build_associated_data(to), sealed)?)
    }

    fn build_associated_data(&self, to: AnswerTo<'_>) -> Vec<u8> {
        let parts = [to.organization.as_str(), to.tool.as_str(), &hex::encode(to.request), self.id()];
        build_associated_data("recorded answer", &parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::clock::Clock;

    #[test]
    fn an_answer_opens_only_in_its_row() {
        let (key, clock) = (DataKey::generate(), Clock::system());
        let (acme, other) = (OrganizationId::parse("acme").unwrap(), OrganizationId::parse("other").unwrap());
        let (tool, another) = (ToolId::new(&clock), ToolId::new(&clock));
        let to = AnswerTo { organization: &acme, tool: &tool, request: &[7; 32] };
        for answer in [&b"small"[..], &[7; 60_000], b""] {
            let sealed = key.seal_answer(to, answer).unwrap();
            assert_eq!(*key.open_answer(to, &sealed).unwrap(), answer);
            assert!(key.open_answer(AnswerTo { organization: &other, ..to }, &sealed).is_err());
            assert!(key.open_answer(AnswerTo { tool: &another, ..to }, &sealed).is_err());
            assert!(key.open_answer(AnswerTo { request: &[8; 32], ..to }, &sealed).is_err());
            assert!(DataKey::generate().open_answer(to, &sealed).is_err());
            assert!(key.open_body(&acme, &[7; 32], &sealed).is_err());
        }
    }

    #[test]
    fn equal_requests_of_two_tools_have_different_digests() {
        let (key, clock) = (DataKey::generate(), Clock::system());
        let (tool, another) = (ToolId::new(&clock), ToolId::new(&clock));
        let digest = key.request_digest(&tool, &[7; 32]);
        assert_eq!(digest, key.request_digest(&tool, &[7; 32]));
        assert_ne!(digest, key.request_digest(&tool, &[8; 32]));
        assert_ne!(digest, key.request_digest(&another, &[7; 32]));
        assert_ne!(digest, DataKey::generate().request_digest(&tool, &[7; 32]));
        assert_ne!(digest, key.body_digest(&[7; 32]));
    }
}
