//! A body that is still coming when the rights of its sender end must not be acted upon: whoever takes their time is
//! asked about again before more of it is taken.

use axum::body::{Body, Bytes, HttpBody as _};
use futures_util::stream::try_unfold;

use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::time::{Duration, Instant};

use super::asking::Asking;
use super::{Guard, check};

/// So long a check counts, as it does for requests without a body.
const TRUSTED: Duration = Duration::from_secs(1);

/// The sender of a body may no longer send it.
#[derive(Debug, thiserror::Error)]
#[error("the rights of the sender ended before the body")]
pub(crate) struct RightsEnded;

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Watched {
    guard: Guard,
    asking: Asking,
    body: Body,
    checked: Instant,
}

/// The body, which fails with [`RightsEnded`] once the guard would not let its request in any more.
pub(super) fn watched(guard: &Guard, asking: Asking, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    // In a box, because bodies are moved about.
    let watched = Box::new(Watched { guard: guard.clone(), asking, body, checked: Instant::now() });
    Body::new(StreamBody::new(try_unfold(watched, |mut watched| async move {
        Ok::<_, Failure>(watched.next().await?.map(|frame| (frame, watched)))
    })))
}

impl Watched {
    async fn next(&mut self) -> Result<Option<Frame<Bytes>>, Failure> {
        let frame = self.body.frame().await.transpose().map_err(axum::Error::into_inner)?;
        if self.checked.elapsed() >= TRUSTED {
            self.checked = Instant::now();
            check(&self.guard, &self.asking).await.map_err(|_| RightsEnded)?;
        }
        Ok(frame)
    }
}
