//! Work that its request carries out for as long as it is there, and a task of its own from then on.
//!
//! Most clients stay for their answer, and a task for each of their requests would be a way there and back for nothing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument;

/// Dropped before its end it goes on elsewhere.
pub(crate) struct Carried<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    work: Option<Pin<Box<F>>>,
    /// The end of the server waits for it.
    tracked: TaskTrackerToken,
}

impl<F> Carried<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    pub(crate) fn new(work: F, tracked: TaskTrackerToken) -> Self {
        Self { work: Some(Box::pin(work)), tracked }
    }
}

/// Nothing comes of work that has panicked.
impl<F> Future for Carried<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // What panics is not there any more when this is dropped, and so is not begun again.
        let Some(mut work) = self.work.take() else { return Poll::Ready(None) };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        Poll::Ready(Some(ready!(polled)))
    }
}

impl<F> Drop for Carried<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        // Without a runtime the process is at its end.
        if let Ok(runtime) = Handle::try_current() {
            let tracked = self.tracked.clone();
            let rest = async move {
                work.await;
                drop(tracked);
            };
            runtime.spawn(rest.in_current_span());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;
    use tokio_util::task::TaskTracker;

    use super::*;

    #[tokio::test]
    async fn what_was_begun_goes_on_when_nobody_waits_for_it() {
        let tasks = TaskTracker::new();
        let (go, gone) = oneshot::channel::<()>();
        let (done, ended) = oneshot::channel();
        let work = async move {
            gone.await.unwrap();
            done.send("the end").unwrap();
        };
        let mut carried = Carried::new(work, tasks.token());
        assert!((&mut carried).now_or_never().is_none());
        drop(carried);
        tasks.close();
        assert!(tasks.wait().now_or_never().is_none(), "it is still waited for");
        go.send(()).unwrap();
        assert_eq!(ended.await.unwrap(), "the end");
        tokio::time::timeout(Duration::from_secs(10), tasks.wait()).await.unwrap();
    }

    #[tokio::test]
    async fn what_has_ended_is_over() {
        let tasks = TaskTracker::new();
        assert_eq!(Carried::new(async { 7 }, tasks.token()).await, Some(7));
        let panics = Carried::new(async { panic!("on purpose") }, tasks.token());
        assert!(std::panic::AssertUnwindSafe(panics).catch_unwind().await.is_err());
        tasks.close();
        tokio::time::timeout(Duration::from_secs(10), tasks.wait()).await.unwrap();
    }
}
