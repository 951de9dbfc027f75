//! What hardly ever happens, watched beside what happens all the time.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled only when somebody has woken it, and not whenever its task is for another reason. To ask takes a
/// lock, for the server's end one that all connections share, a few times for each request.
///
/// Its task must see, when it is polled, what came before it was woken, also when it had been woken already: tokio's do.
pub(super) struct Seldom<F> {
    future: Pin<Box<F>>,
    alarm: Arc<Alarm>,
    /// As the alarm has it.
    task: Waker,
}

struct Alarm {
    has_rung: AtomicBool,
    task: Mutex<Waker>,
}

pub(super) fn seldom<F: Future>(future: F) -> Seldom<F> {
    let task = Waker::noop().clone();
    let alarm = Alarm { has_rung: AtomicBool::new(true), task: Mutex::new(task.clone()) };
    Seldom { future: Box::pin(future), alarm: Arc::new(alarm), task }
}

impl<F: Future> Future for Seldom<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if !self.task.will_wake(context.waker()) {
            self.task = context.waker().clone();
            *self.alarm.task() = context.waker().clone();
        }
        // A look alone leaves the alarm's memory shared.
        if !self.alarm.has_rung.load(Ordering::Relaxed) || !self.alarm.has_rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let waker = Waker::from(self.alarm.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        self.task().wake_by_ref();
    }
}

impl Alarm {
    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;

    use futures_util::task::noop_waker;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn it_wakes_its_task_and_is_polled_for_nothing_else() {
        let (tell, told) = oneshot::channel();
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = polls.clone();
        let mut told = Box::pin(told);
        let mut seldom = Box::pin(seldom(poll_fn(move |context| {
            counted.fetch_add(1, Ordering::Relaxed);
            told.as_mut().poll(context)
        })));
        for _ in 0..3 {
            assert!(seldom.as_mut().poll(&mut Context::from_waker(&noop_waker())).is_pending());
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        // Another task waits for it now.
        let waiting = tokio::spawn(seldom);
        tokio::task::yield_now().await;
        tell.send(7).unwrap();
        assert_eq!(waiting.await.unwrap(), Ok(7));
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }
}
