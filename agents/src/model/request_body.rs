//! The body of a request to a model, in pieces: requests of several runs share the schemas of their tools.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use serde_json::Value;

/// JSON in pieces. Clones share them.
#[derive(Debug, Clone)]
pub struct RequestBody(VecDeque<Bytes>);

impl RequestBody {
    /// Writes an object, and adds a member with the tools, each as the text before its schema, its schema and the text after it.
    pub fn of(fields: &Value, tools: impl ExactSizeIterator<Item = [Bytes; 3]>) -> Self {
        let mut text = fields.to_string();
        if tools.len() == 0 {
            return Self(VecDeque::from([text.into()]));
        }
        // The brace at the end of the object.
        text.truncate(text.len().saturating_sub(1));
        text.push_str(",\"tools\":[");
        let mut pieces = VecDeque::from([Bytes::from(text)]);
        for (index, tool) in tools.enumerate() {
            pieces.extend((index > 0).then(|| Bytes::from_static(b",")));
            pieces.extend(tool);
        }
        pieces.push_back(Bytes::from_static(b"]}"));
        Self(pieces)
    }

    #[cfg(test)]
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.0.iter().flatten().copied().collect::<Vec<_>>()).unwrap()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    /// Exact, so that the request has a `Content-Length`, which some servers of models want.
    fn size_hint(&self) -> SizeHint {
        let bytes = self.0.iter().map(|piece| u64::try_from(piece.len()).unwrap_or(u64::MAX));
        SizeHint::with_exact(bytes.fold(0, u64::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_are_the_last_member() {
        let tool = |name: &'static str| [name, "{}", "}"].map(|piece| Bytes::from_static(piece.as_bytes()));
        let body = RequestBody::of(&json!({"model": "m"}), [tool("{\"a\":"), tool("{\"b\":")].into_iter());
        assert_eq!(body.value(), json!({"model": "m", "tools": [{"a": {}}, {"b": {}}]}));
        assert_eq!(body.size_hint().exact(), Some(41));
        assert_eq!(RequestBody::of(&json!({"model": "m"}), [].into_iter()).value(), json!({"model": "m"}));
    }
}
