//! A response's body that tells when it is over: sent to its end, or dropped before because the client went away.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// What is to be done at the end of a response.
pub(crate) trait AtEnd: Send + Unpin + 'static {
    /// `is_complete`: the whole body was handed over to be sent.
    fn at_end(self, is_complete: bool);
}

/// Attaches `end` to a response.
pub(crate) fn with_end(response: Response, end: impl AtEnd) -> Response {
    response.map(|inner| Body::new(EndingBody { inner, end: Some(end) }))
}

struct EndingBody<E: AtEnd> {
    inner: Body,
    end: Option<E>,
}

impl<E: AtEnd> EndingBody<E> {
    fn end(&mut self, is_complete: bool) {
        if let Some(end) = self.end.take() {
            end.at_end(is_complete);
        }
    }
}

impl<E: AtEnd> HttpBody for EndingBody<E> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.end(true);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A body that is known to be at its end is not polled again.
impl<E: AtEnd> Drop for EndingBody<E> {
    fn drop(&mut self) {
        let is_complete = self.inner.is_end_stream();
        self.end(is_complete);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::Mutex;

    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    struct Note(Arc<Mutex<Vec<bool>>>);

    impl AtEnd for Note {
        fn at_end(self, is_complete: bool) {
            self.0.lock().unwrap().push(is_complete);
        }
    }

    #[tokio::test]
    async fn the_end_comes_once_and_tells_what_happened() {
        let noted = Arc::default();
        let response = |body| with_end(Response::new(body), Note(Arc::clone(&noted)));
        response(Body::from("text")).into_body().collect().await.unwrap();
        drop(response(Body::empty()));
        drop(response(Body::from("never sent")));
        let two = || Body::from_stream(stream::iter(["a", "b"].map(Ok::<_, std::io::Error>)));
        let mut cut_off = response(two()).into_body();
        cut_off.frame().await.unwrap().unwrap();
        drop(cut_off);
        response(two()).into_body().collect().await.unwrap();
        assert_eq!(*noted.lock().unwrap(), [true, true, false, false, true]);
    }
}
