//! A response's body that reports its end: sent completely, or dropped before because the client went away.
//!
//! tower-http's `TraceLayer` has no callback for a body that is dropped, so that such requests would leave no line in the
//! log.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// A callback for the end of a response's body.
pub trait OnBodyEnd: Send + Unpin + 'static {
    /// Called once. `is_complete` is true if the whole body was handed over to be sent.
    fn on_body_end(self, is_complete: bool);
}

/// Attaches a callback to the body of a response.
pub fn attach_end(response: Response, end: impl OnBodyEnd) -> Response {
    response.map(|inner| Body::new(EndingBody { inner, end: Some(end) }))
}

struct EndingBody<E: OnBodyEnd> {
    inner: Body,
    end: Option<E>,
}

impl<E: OnBodyEnd> EndingBody<E> {
    fn end(&mut self, is_complete: bool) {
        if let Some(end) = self.end.take() {
            end.on_body_end(is_complete);
        }
    }
}

impl<E: OnBodyEnd> HttpBody for EndingBody<E> {
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

/// A body that is known to be at its end is not polled again, so that the callback happens here.
impl<E: OnBodyEnd> Drop for EndingBody<E> {
    fn drop(&mut self) {
        let is_complete = self.inner.is_end_stream();
        self.end(is_complete);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::stream;
    use http_body_util::BodyExt;
    use parking_lot::Mutex;

    use super::*;

    struct Note(Arc<Mutex<Vec<bool>>>);

    impl OnBodyEnd for Note {
        fn on_body_end(self, is_complete: bool) {
            self.0.lock().push(is_complete);
        }
    }

    #[tokio::test]
    async fn the_end_is_reported_once_with_the_completeness_of_the_body() {
        let noted = Arc::default();
        let response = |body| attach_end(Response::new(body), Note(Arc::clone(&noted)));
        response(Body::from("text")).into_body().collect().await.unwrap();
        drop(response(Body::empty()));
        drop(response(Body::from("never sent")));
        let two = || Body::from_stream(stream::iter(["a", "b"].map(Ok::<_, std::io::Error>)));
        let mut cut_off = response(two()).into_body();
        cut_off.frame().await.unwrap().unwrap();
        drop(cut_off);
        response(two()).into_body().collect().await.unwrap();
        assert_eq!(*noted.lock(), [true, true, false, false, true]);
    }
}
