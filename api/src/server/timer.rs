//! One timer, set again and again.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Completes at no time until it is started.
///
/// Each request sets it, and it hardly ever rings. So the runtime's own timer is left as it is when the time is put off, and
/// is set anew when it rings too early.
#[derive(Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    end: Option<Instant>,
}

impl Timer {
    pub(super) fn start(&mut self, time: Duration) {
        self.end = Some(Instant::now() + time);
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(end) = self.end else { return Poll::Pending };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if sleep.deadline() > end {
            sleep.as_mut().reset(end);
        }
        loop {
            ready!(sleep.as_mut().poll(context));
            if sleep.deadline() >= end {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    const SHORT: Duration = Duration::from_millis(10);
    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn it_rings_when_it_was_last_set_to() {
        let mut timer = Timer::default();
        let polled = async |timer: &mut Timer| poll_fn(|context| Poll::Ready(timer.poll(context))).await;
        assert!(polled(&mut timer).await.is_pending(), "nobody has set it");
        // Put off while it runs, drawn near, and twice the same.
        for (first, second) in [(SHORT, 3 * SHORT), (LONG, SHORT), (SHORT, SHORT)] {
            let began = Instant::now();
            timer.start(first);
            assert!(polled(&mut timer).await.is_pending());
            timer.start(second);
            poll_fn(|context| timer.poll(context)).await;
            assert!(began.elapsed() >= second, "{first:?}, {second:?}: {:?}", began.elapsed());
        }
    }
}
