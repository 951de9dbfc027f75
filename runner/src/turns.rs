//! Whose turn it is to compute: organisations in turn, and of each its runs in turn.
//!
//! All runs of a process share one thread and give way every millisecond. Without turns an organisation with twenty
//! runs would get twenty times what its neighbour with one run gets. Whenever a run gives way the runtime looks at its
//! socket and its timers before the next one computes; behind one that waits or has ended it need not.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Names an organisation among the runs of a process.
pub type Group = u64;

/// The runs that could compute and do not.
#[derive(Default)]
pub struct Turns(Mutex<Ready>);

#[derive(Default)]
struct Ready {
    /// The front group's front run is next; no group is empty.
    groups: VecDeque<(Group, VecDeque<Arc<Run>>)>,
    /// A run computes, and the next one is woken behind it.
    is_computing: bool,
}

/// One run, and the waker that its guest gets: who wakes it makes it ready.
struct Run {
    turns: Arc<Turns>,
    group: Group,
    task: Mutex<Waker>,
    /// Somebody may still have the waker of a run that ended.
    is_over: AtomicBool,
}

/// Takes a run out when it ends, or is given up.
struct Place(Arc<Run>);

impl Turns {
    /// Polls a future whenever it is ready and has its turn.
    pub async fn take<F: Future>(self: Arc<Self>, group: Group, future: F) -> F::Output {
        let run = Arc::new(Run {
            turns: self,
            group,
            task: Mutex::new(Waker::noop().clone()),
            is_over: AtomicBool::new(false),
        });
        let place = Place(run);
        place.0.turns.ready().enter(&place.0);
        let mut future = pin!(future);
        std::future::poll_fn(|context| place.poll(future.as_mut(), context)).await
    }

    fn ready(&self) -> MutexGuard<'_, Ready> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_next(&self) {
        if let Some(task) = self.next() {
            task.wake();
        }
    }

    /// After a run has computed.
    fn hand_on(&self, run: &Arc<Run>) {
        let gave_way = self.ready().has(run);
        match self.next() {
            Some(task) if gave_way => wake_later(&task),
            Some(task) => task.wake(),
            None => {}
        }
    }

    /// The waker of the next run, unless one computes.
    fn next(&self) -> Option<Waker> {
        let next = {
            let ready = self.ready();
            ready.next().filter(|_| !ready.is_computing).cloned()
        };
        next.map(|next| next.task.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Wakes once the runtime has looked at what else there is.
fn wake_later(task: &Waker) {
    let look = pin!(tokio::task::yield_now());
    // It is pending: it has taken the waker.
    let _ = look.poll(&mut Context::from_waker(task));
}

/// While a run computes, also if it panics.
struct Computing<'t>(&'t Turns);

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.0.ready().is_computing = false;
    }
}

impl Place {
    fn poll<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self(run) = self;
        run.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(context.waker());
        if !run.turns.ready().pass_to(run) {
            run.turns.wake_next();
            return Poll::Pending;
        }
        let computing = Computing(&run.turns);
        let polled = future.poll(&mut Context::from_waker(&Waker::from(run.clone())));
        drop(computing);
        run.turns.hand_on(run);
        polled
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Self(run) = self;
        run.is_over.store(true, Ordering::Relaxed);
        run.turns.ready().remove(run);
        run.turns.wake_next();
    }
}

impl Wake for Run {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.turns.ready().enter(self);
        self.turns.wake_next();
    }
}

impl Ready {
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

    fn has(&self, run: &Arc<Run>) -> bool {
        let mut of_group = self.groups.iter().filter(|(group, _)| *group == run.group);
        of_group.any(|(_, runs)| runs.iter().any(|other| Arc::ptr_eq(other, run)))
    }

    fn next(&self) -> Option<&Arc<Run>> {
        self.groups.front().and_then(|(_, runs)| runs.front())
    }

    /// Whether it is a run's turn. Its group is last then, and it computes.
    fn pass_to(&mut self, run: &Arc<Run>) -> bool {
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

    /// Gives way as a guest does: ready again at once.
    async fn give_way() {
        let mut has_given = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut has_given, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Computes in slices until told to stop, and counts them.
    async fn computes(slices: Rc<Cell<u32>>, is_over: Rc<Cell<bool>>) {
        while !is_over.get() {
            slices.set(slices.get() + 1);
            give_way().await;
        }
    }

    #[tokio::test]
    async fn many_runs_of_one_group_get_what_one_of_another_gets() {
        let (turns, is_over) = (Arc::new(Turns::default()), Rc::new(Cell::new(false)));
        let (many, one) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let start = |group: Group, slices: &Rc<Cell<u32>>| {
            let (turns, run) = (turns.clone(), computes(slices.clone(), is_over.clone()));
            async move { turns.take(group, run).await }
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
        assert!(turns.ready().groups.is_empty());
    }

    #[tokio::test]
    async fn a_run_that_panics_takes_nobodys_turn() {
        let turns = Arc::new(Turns::default());
        let panics = tokio::spawn(turns.clone().take(1, async { panic!("on purpose") }));
        assert!(panics.await.unwrap_err().is_panic());
        tokio::time::timeout(Duration::from_secs(10), turns.take(2, give_way())).await.unwrap();
    }

    /// However many compute, what comes from outside is seen as soon as one of them has given way.
    #[tokio::test]
    async fn the_runtime_looks_around_between_runs_that_compute() {
        const SLICE: Duration = Duration::from_millis(1);
        let (turns, slices) = (Arc::new(Turns::default()), Rc::new(Cell::new(0)));
        let is_over = Rc::new(Cell::new(false));
        let local = tokio::task::LocalSet::new();
        for group in 0..20 {
            let (turns, slices, is_over) = (turns.clone(), slices.clone(), is_over.clone());
            local.spawn_local(turns.take(group, async move {
                while !is_over.get() {
                    std::thread::sleep(SLICE);
                    slices.set(slices.get() + 1);
                    give_way().await;
                }
            }));
        }
        let (asked, answers) = std::os::unix::net::UnixStream::pair().unwrap();
        answers.set_nonblocking(true).unwrap();
        let slices_meanwhile = local.spawn_local(async move {
            let answers = tokio::net::UnixStream::from_std(answers).unwrap();
            tokio::time::sleep(10 * SLICE).await;
            let before = slices.get();
            std::io::Write::write_all(&mut &asked, b"now").unwrap();
            answers.readable().await.unwrap();
            is_over.set(true);
            slices.get() - before
        });
        let slices_meanwhile = local.run_until(slices_meanwhile).await.unwrap();
        assert!(slices_meanwhile <= 3, "{slices_meanwhile} slices before it was seen");
    }

    /// The runtime has its waker when it goes away.
    async fn goes_on() -> Infallible {
        loop {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_run_that_waits_or_goes_away_holds_nobody_up() {
        let turns = Arc::new(Turns::default());
        let local = tokio::task::LocalSet::new();
        let is_over = Rc::new(Cell::new(false));
        let slices = Rc::new(Cell::new(0));
        let (sleeper, spinner, lost) = (turns.clone(), turns.clone(), turns.clone());
        let spins = computes(slices.clone(), is_over.clone());
        local.spawn_local(async move { spinner.take(1, spins).await });
        local.spawn_local(async move {
            assert!(tokio::time::timeout(Duration::from_millis(5), lost.take(3, goes_on())).await.is_err());
        });
        local.spawn_local(async move {
            sleeper.take(2, tokio::time::sleep(Duration::from_millis(20))).await;
            is_over.set(true);
        });
        local.await;
        assert!(slices.get() > 10);
        assert!(turns.ready().groups.is_empty());
    }
}
