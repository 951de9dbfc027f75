//! Outbound HTTP on a tape: requests and their answers.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::body::Body;
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpRequest, HttpResponse};

/// Bodies from this size on are stored apart from the tape. A database page is about as large.
const APART_BYTES_MIN: usize = 4 << 10;
/// Bytes of all responses of a run: as much as its limits allow, with room for responses in flight at the same time.
const BODIES_BYTES_MAX: usize = 24 << 20;

/// A request as the tool made it, with placeholders in place of host secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TapedRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapedResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

pub type TapedAnswer = Result<TapedResponse, HttpError>;

/// Larger response bodies by their SHA-256.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bodies(BTreeMap<[u8; 32], Vec<u8>>);

impl Bodies {
    pub(crate) fn put(&mut self, digest: [u8; 32], bytes: Vec<u8>) {
        self.0.insert(digest, bytes);
    }

    /// Removes all bodies and returns them.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = ([u8; 32], Vec<u8>)> + use<> {
        std::mem::take(&mut self.0).into_iter()
    }

    /// Whether the bodies are within the bound of a tape.
    pub(crate) fn fit(&self) -> bool {
        self.0.values().map(Vec::len).sum::<usize>() <= BODIES_BYTES_MAX
    }

    /// Converts an answer for the tape, and keeps its body here when it is large.
    pub(crate) fn keep(&mut self, answer: &HttpAnswer) -> TapedAnswer {
        let HttpResponse { status, headers, body } = answer.as_ref().map_err(HttpError::clone)?;
        let stored = build_taped_body(body);
        if let Body::Digest(digest) = &stored {
            self.0.entry(digest.0).or_insert_with(|| body.clone());
        }
        Ok(TapedResponse { status: *status, headers: headers.clone(), body: stored })
    }

    /// Restores an answer of the tape; `None` when its body is missing or does not match its digest.
    pub(super) fn answer(&self, answer: &TapedAnswer) -> Option<HttpAnswer> {
        let TapedResponse { status, headers, body } = match answer {
            Ok(response) => response,
            Err(error) => return Some(Err(error.clone())),
        };
        let body = match body {
            Body::Whole(bytes) => bytes.to_vec(),
            Body::Digest(digest) => {
                let bytes = self.0.get(&digest.0)?;
                (<[u8; 32]>::from(Sha256::digest(bytes)) == digest.0).then(|| bytes.clone())?
            }
        };
        Some(Ok(HttpResponse { status: *status, headers: headers.clone(), body }))
    }
}

impl From<&HttpRequest> for TapedRequest {
    fn from(request: &HttpRequest) -> Self {
        let HttpRequest { method, url, headers, body } = request;
        Self { method: method.clone(), url: url.clone(), headers: headers.clone(), body: build_taped_body(body) }
    }
}

fn build_taped_body(bytes: &[u8]) -> Body {
    if bytes.len() < APART_BYTES_MIN { Body::whole(bytes) } else { Body::digest(bytes) }
}

impl TapedRequest {
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.method.len()
            + self.url.len()
            + count_headers_bytes(&self.headers)
            + self.body.heap_bytes()
    }
}

pub(super) fn answer_bytes(answer: &TapedAnswer) -> usize {
    size_of::<TapedAnswer>()
        + match answer {
            Ok(response) => count_headers_bytes(&response.headers) + response.body.heap_bytes(),
            Err(error) => error.message.len(),
        }
}

fn count_headers_bytes(headers: &[(String, String)]) -> usize {
    headers.iter().map(|(name, value)| size_of::<(String, String)>() + name.len() + value.len()).sum()
}

/// Leaves headers out, since they may hold credentials or large values.
impl fmt::Display for TapedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} with a body of {} bytes", self.method, self.url, self.body.length())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::ports::HttpErrorCode;

    fn answer(body: &[u8]) -> HttpAnswer {
        Ok(HttpResponse { status: 200, headers: vec![("a".into(), "b".into())], body: body.into() })
    }

    #[test]
    fn answers_come_back_whatever_their_size() {
        let mut bodies = Bodies::default();
        for body in [&b""[..], b"small", &[7; 100_000]] {
            let kept = bodies.keep(&answer(body));
            assert_eq!(bodies.answer(&kept), Some(answer(body)));
        }
        let refused = Err(HttpError::new(HttpErrorCode::Denied, "no"));
        let kept = bodies.keep(&refused);
        assert_eq!(bodies.answer(&kept), Some(refused));
        assert_eq!(bodies.0.len(), 1);
    }

    #[test]
    fn a_body_that_is_gone_or_another_is_no_answer() {
        let mut bodies = Bodies::default();
        let kept = bodies.keep(&answer(&[7; 100_000]));
        let (digest, _) = bodies.take().next().unwrap();
        assert_eq!(bodies.answer(&kept), None);
        bodies.put(digest, vec![8; 100_000]);
        assert_eq!(bodies.answer(&kept), None);
    }
}
