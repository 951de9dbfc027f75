//! Schedules the runs that compute: organisations in turn, and the runs of each organisation in turn.
//!
//! All runs of a process share one thread and yield every millisecond. Without turns, an organisation with twenty runs would get
//! twenty times the processor time of its neighbour with one run. When a run yields, the runtime polls its socket and timers
//! before the next run computes; after a run that waits or has ended, it need not.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

/// Number of an organisation among the runs of a process.
pub type Group = u64;

/// The runs that are ready to compute.
#[derive(Default)]
pub struct FairScheduler(Mutex<ReadyQueue>);

#[derive(Default)]
struct ReadyQueue {
    /// The next run is the first one of the first group. No group is empty.
    groups: VecDeque<(Group, VecDeque<Arc<Run>>)>,
    /// A run computes, and wakes the next one when it yields.
    is_computing: bool,
}

/// One run, which is also its guest's waker: a wake-up makes the run ready.
struct Run {
    scheduler: Arc<FairScheduler>,
    group: Group,
    task: Mutex<Waker>,
    /// Wakers may outlive their run.
    is_over: AtomicBool,
}

/// Removes a run from the queue on drop.
struct ScheduledRun(Arc<Run>);

impl FairScheduler {
    /// Polls a future whenever it is ready and has its turn.
    pub async fn run<F: Future>(self: Arc<Self>, group: Group, future: F) -> F::Output {
        let (task, is_over) = (Mutex::new(Waker::noop().clone()), AtomicBool::new(false));
        let scheduled = ScheduledRun(Arc::new(Run { scheduler: self, group, task, is_over }));
        scheduled.0.scheduler.0.lock().enter(&scheduled.0);
        let mut future = pin!(future);
        std::future::poll_fn(|context| scheduled.poll(future.as_mut(), context)).await
    }

    fn wake_next(&self) {
        if let Some(task) = self.next() {
            task.wake();
        }
    }

    /// Wakes the next run, after a run has computed.
    fn hand_over(&self, run: &Arc<Run>) {
        let has_yielded = self.0.lock().contains(run);
        match self.next() {
            Some(task) if has_yielded => wake_deferred(&task),
            Some(task) => task.wake(),
            None => {}
        }
    }

    /// Returns the waker of the next run, unless a run computes.
    fn next(&self) -> Option<Waker> {
        let next = {
            let ready = self.0.lock();
            ready.next().filter(|_| !ready.is_computing).cloned()
        };
        next.map(|next| next.task.lock().clone())
    }
}

/// Wakes a task after the runtime has polled sockets and timers: `yield_now` defers the waker that first polls it.
fn wake_deferred(task: &Waker) {
    let _ = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(task));
}

/// Marks the scheduler as computing until dropped, also by a panic.
struct Computing<'s>(&'s FairScheduler);

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.0.0.lock().is_computing = false;
    }
}

impl ScheduledRun {
    fn poll<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self(run) = self;
        run.task.lock().clone_from(context.waker());
        if !run.scheduler.0.lock().begin_turn(run) {
            run.scheduler.wake_next();
            return Poll::Pending;
        }
        let computing = Computing(&run.scheduler);
        let polled = future.poll(&mut Context::from_waker(&Waker::from(run.clone())));
        drop(computing);
        run.scheduler.hand_over(run);
        polled
    }
}

impl Drop for ScheduledRun {
    fn drop(&mut self) {
        let Self(run) = self;
        run.is_over.store(true, Ordering::Relaxed);
        run.scheduler.0.lock().remove(run);
        run.scheduler.wake_next();
    }
}

impl Wake for Run {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.scheduler.0.lock().enter(self);
        self.scheduler.wake_next();
    }
}

impl ReadyQueue {
    fn enter(&mut self, run: &Arc<Run>) {
        if run.is_over.load(Ordering::Relaxed) {
            return;
        }
        match self.groups.iter_mut().find(|(group, _)| *group == run.group) {
            None => self.groups.push_back((run.group, [run.clone()].into())),
            Some((_, runs)) if runs.iter().any(|other| Arc::ptr_eq(other, run)) => {}
            Some((_, runs)) => runs.push_back(run.clone()),
        }
    }

    fn remove(&mut self, run: &Arc<Run>) {
        if let Some((_, runs)) = self.groups.iter_mut().find(|(group, _)| *group == run.group) {
            runs.retain(|other| !Arc::ptr_eq(other, run));
        }
        self.groups.retain(|(_, runs)| !runs.is_empty());
    }

    fn contains(&self, run: &Arc<Run>) -> bool {
        let mut of_group = self.groups.iter().filter(|(group, _)| *group == run.group);
        of_group.any(|(_, runs)| runs.iter().any(|other| Arc::ptr_eq(other, run)))
    }

    fn next(&self) -> Option<&Arc<Run>> {
        self.groups.front().and_then(|(_, runs)| runs.front())
    }

    /// Begins a run's turn and moves its group to the end; returns `false` when it is the turn of another run.
    fn begin_turn(&mut self, run: &Arc<Run>) -> bool {
        if !self.next().is_some_and(|next| Arc::ptr_eq(next, run)) {
            return false;
        }
        if let Some((group, mut runs)) = self.groups.pop_front() {
            runs.pop_front();
            if !runs.is_empty() {
                self.groups.push_back((group, runs));
            }
        }
        self.is_computing = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::rc::Rc;
    use std::time::Duration;

    use super::*;

    /// Yields as a guest does: ready again immediately.
    async fn yield_once() {
        let mut has_yielded = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut has_yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Computes in slices until stopped, and counts the slices.
    async fn computes(slices: Rc<Cell<u32>>, is_over: Rc<Cell<bool>>) {
        while !is_over.get() {
            slices.set(slices.get() + 1);
            yield_once().await;
        }
    }

    #[tokio::test]
    async fn many_runs_of_one_group_get_what_one_of_another_gets() {
        let (scheduler, is_over) = (Arc::new(FairScheduler::default()), Rc::new(Cell::new(false)));
        let (many, one) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let start = |group: Group, slices: &Rc<Cell<u32>>| {
            let (scheduler, run) = (scheduler.clone(), computes(slices.clone(), is_over.clone()));
            async move { scheduler.run(group, run).await }
        };
        let local = tokio::task::LocalSet::new();
        for _ in 0..20 {
            local.spawn_local(start(1, &many));
        }
        local.spawn_local(start(2, &one));
        let (is_over_too, alone) = (is_over.clone(), one.clone());
        local.spawn_local(async move {
            while alone.get() < 500 {
                tokio::task::yield_now().await;
            }
            is_over_too.set(true);
        });
        local.await;
        assert!((450..600).contains(&many.get()), "{} slices against {}", many.get(), one.get());
        assert!(scheduler.0.lock().groups.is_empty());
    }

    #[tokio::test]
    async fn a_run_that_panics_does_not_block_others() {
        let scheduler = Arc::new(FairScheduler::default());
        let panics = tokio::spawn(scheduler.clone().run(1, async { panic!("on purpose") }));
        assert!(panics.await.unwrap_err().is_panic());
        tokio::time::timeout(Duration::from_secs(300), scheduler.run(2, yield_once())).await.unwrap();
    }

    /// However many runs compute, input is noticed as soon as one of them yields.
    #[tokio::test]
    async fn the_runtime_polls_sockets_between_runs_that_compute() {
        const SLICE: Duration = Duration::from_millis(1);
        let (scheduler, slices) = (Arc::new(FairScheduler::default()), Rc::new(Cell::new(0)));
        let is_over = Rc::new(Cell::new(false));
        let local = tokio::task::LocalSet::new();
        for group in 0..20 {
            let (scheduler, slices, is_over) = (scheduler.clone(), slices.clone(), is_over.clone());
            local.spawn_local(scheduler.run(group, async move {
                while !is_over.get() {
                    std::thread::sleep(SLICE);
                    slices.set(slices.get() + 1);
                    yield_once().await;
                }
            }));
        }
        let (asked, answers) = std::os::unix::net::UnixStream::pair().unwrap();
        answers.set_nonblocking(true).unwrap();
        let slices_meanwhile = local.spawn_local(async move {
            let answers = tokio::net::UnixStream::from_std(answers).unwrap();
            while slices.get() < 10 {
                tokio::task::yield_now().await;
            }
            let before = slices.get();
            std::io::Write::write_all(&mut &asked, b"now").unwrap();
            answers.readable().await.unwrap();
            is_over.set(true);
            slices.get() - before
        });
        let slices_meanwhile = local.run_until(slices_meanwhile).await.unwrap();
        assert!(slices_meanwhile <= 3, "{slices_meanwhile} slices before the input was noticed");
    }

    /// Computes without end; the runtime holds its waker when it is dropped.
    async fn computes_forever() -> Infallible {
        loop {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_run_that_waits_or_is_dropped_does_not_block_others() {
        let scheduler = Arc::new(FairScheduler::default());
        let local = tokio::task::LocalSet::new();
        let is_over = Rc::new(Cell::new(false));
        let slices = Rc::new(Cell::new(0));
        let (sleeper, spinner, lost) = (scheduler.clone(), scheduler.clone(), scheduler.clone());
        let (spins, counted) = (computes(slices.clone(), is_over.clone()), slices.clone());
        local.spawn_local(async move { spinner.run(1, spins).await });
        local.spawn_local(async move {
            assert!(tokio::time::timeout(Duration::from_millis(5), lost.run(3, computes_forever())).await.is_err());
        });
        local.spawn_local(async move {
            let waits = async {
                while counted.get() <= 10 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            sleeper.run(2, waits).await;
            is_over.set(true);
        });
        // Endless if the waiting run blocked the computing one, or the other way round.
        tokio::time::timeout(Duration::from_secs(300), local).await.unwrap();
        assert!(scheduler.0.lock().groups.is_empty());
    }
}
