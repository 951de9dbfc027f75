//! Repeated checks while a body arrives. A request must not be carried out if the rights of its sender end before its
//! body does.

use axum::body::{Body, Bytes, HttpBody as _};
use futures_util::stream::try_unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::time::{Duration, Instant};

use super::rights::Rights;
use crate::extract::RightsEnded;

/// How long a check is valid, the same time as for requests without a body.
const CHECK_AGE_MAX: Duration = Duration::from_secs(1);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

struct RecheckedBody {
    rights: Rights,
    body: Body,
    checked_at: Instant,
}

/// Wraps a body so that it fails with [`RightsEnded`] once the check of its request would fail.
pub(super) fn recheck_body(rights: Rights, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let rechecked = RecheckedBody { rights, body, checked_at: Instant::now() };
    Body::new(StreamBody::new(try_unfold(rechecked, |mut rechecked| async move {
        Ok::<_, BoxError>(rechecked.read_frame().await?.map(|frame| (frame, rechecked)))
    })))
}

impl RecheckedBody {
    async fn read_frame(&mut self) -> Result<Option<Frame<Bytes>>, BoxError> {
        let frame = self.body.frame().await.transpose().map_err(axum::Error::into_inner)?;
        if self.checked_at.elapsed() >= CHECK_AGE_MAX {
            self.checked_at = Instant::now();
            self.rights.check().await.map_err(|_| RightsEnded)?;
        }
        Ok(frame)
    }
}
