//! The server's side of what is said with one runner: which runs are under way there, and what it has been given.
//!
//! A runner may be in the hands of a guest that got out. So it can speak of its own runs only, and beyond what a run may
//! say it is not listened to any more.

use std::collections::HashMap;

use tokio::time::Instant;

use super::flight::{Breach, Flight, Job};
use super::frames::{FrameError, Mailbox};
use super::given::Given;
use super::messages::{FromRunner, RunNumber, ToRunner};
use crate::codes::Codes;
use crate::{Error, Execution};

pub struct Conversation {
    mailbox: Mailbox,
    given: Given,
    flights: HashMap<RunNumber, Flight>,
}

impl Conversation {
    pub fn new(mailbox: Mailbox, codes: Codes) -> Self {
        Self { given: Given::new(mailbox.clone(), codes), mailbox, flights: HashMap::new() }
    }

    /// What the runner has been given.
    pub const fn given(&mut self) -> &mut Given {
        &mut self.given
    }

    /// Begins a run. One that cannot begin is answered.
    pub fn begin(&mut self, run: RunNumber, job: Job) {
        let Job { execution, ports, answer } = job;
        let limits = execution.limits;
        match self.send(run, execution) {
            Ok(()) => drop(self.flights.insert(run, Flight::new(limits, ports, answer))),
            Err(error) => drop(answer.send(Err(error))), // who asked may have gone
        }
    }

    /// Nobody waits for the run any more.
    pub fn cancel(&mut self, run: RunNumber) {
        if self.flights.remove(&run).is_some() {
            drop(self.mailbox.post(&ToRunner::Cancel { run }));
        }
    }

    /// What the runner says. Of a run that has ended it may still say something that was on its way.
    ///
    /// # Errors
    /// When it says what no runner says.
    pub fn take(&mut self, message: FromRunner) -> Result<(), Breach> {
        match message {
            FromRunner::Ready { .. } => Err(Breach::OutOfTurn),
            FromRunner::Event { run, document } => self.event(run, &document),
            FromRunner::HttpRequest { run, exchange, request } => match self.flights.get_mut(&run) {
                Some(flight) => flight.request(run, exchange, request, &self.mailbox),
                None => Ok(()),
            },
            FromRunner::GiveUp { run, exchange } => {
                if let Some(flight) = self.flights.get_mut(&run) {
                    flight.give_up(exchange);
                }
                Ok(())
            }
            FromRunner::Ended { run, executed } => match self.flights.remove(&run) {
                Some(flight) => flight.land(*executed),
                None => Ok(()),
            },
        }
    }

    fn event(&mut self, run: RunNumber, document: &str) -> Result<(), Breach> {
        let Some(flight) = self.flights.get_mut(&run) else { return Ok(()) };
        flight.event(document)?;
        if flight.has_failed() {
            self.flights.remove(&run).into_iter().for_each(Flight::fail);
            drop(self.mailbox.post(&ToRunner::Cancel { run }));
        }
        Ok(())
    }

    /// Whether no run is under way.
    pub fn is_idle(&self) -> bool {
        self.flights.is_empty()
    }

    /// When the first run will have been under way for too long.
    pub fn deadline(&self) -> Option<Instant> {
        self.flights.values().map(Flight::deadline).min()
    }

    /// Ends the runs that have been under way for too long, and says how many there are.
    pub fn expire(&mut self, now: Instant) -> usize {
        let overdue = self.flights.extract_if(|_, flight| flight.deadline() <= now);
        overdue.map(|(_, flight)| flight.time_out()).count()
    }

    /// The runner is gone: ends all its runs, and says how many there were.
    pub fn lose(&mut self) -> usize {
        self.flights.drain().map(|(_, flight)| flight.crash()).count()
    }

    fn send(&mut self, run: RunNumber, execution: Box<Execution>) -> Result<(), Error> {
        let bundle = self.given.give(&execution.code)?;
        self.mailbox.post(&ToRunner::Run { run, bundle, execution }).map_err(FrameError::unsent)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use registry::Digest;
    use serde_json::json;
    use tempfile::TempDir;
    use tokio::sync::mpsc::UnboundedReceiver;
    use tokio::sync::oneshot::{self, Receiver};

    use super::*;
    use crate::cache::Compiled;
    use crate::process::frames::Outgoing;
    use crate::{Code, Executed, HttpError, HttpErrorCode, HttpRequest, Limits, Outcome, Ports, StatusDocument};

    type Answer = Receiver<Result<Executed, Error>>;

    struct Stage {
        conversation: Conversation,
        queue: UnboundedReceiver<Outgoing>,
        _cache: TempDir,
    }

    fn component() -> Digest {
        Digest::of(b"a component")
    }

    fn stage() -> Stage {
        let cache = tempfile::tempdir().unwrap();
        let compiled = Compiled::open(cache.path(), [1; 32]).unwrap();
        compiled.keep(&component(), b"native code").unwrap();
        let (mailbox, queue) = Mailbox::new();
        Stage { conversation: Conversation::new(mailbox, Codes::new(compiled)), queue, _cache: cache }
    }

    fn execution(bundle: &Arc<[u8]>, wall_ms: u64) -> Execution {
        Execution {
            code: Code { component: component(), bundle: bundle.clone() },
            tool_input: String::new(),
            metadata: String::new(),
            config: String::new(),
            conversation: String::new(),
            user_variables: String::new(),
            limits: Limits { wall_ms, status_events: 2, output_bytes: 10, ..Limits::DEFAULT },
            group: 0,
            taping: crate::Taping::Off,
        }
    }

    impl Stage {
        fn begin(&mut self, run: RunNumber, bundle: &Arc<[u8]>) -> Answer {
            self.begin_with(run, execution(bundle, 1_000), Ports::closed())
        }

        fn begin_with(&mut self, run: RunNumber, execution: Execution, ports: Ports) -> Answer {
            let execution = Box::new(execution);
            let (answer, answered) = oneshot::channel();
            self.conversation.begin(run, Job { execution, ports, answer });
            answered
        }

        /// What was sent since the last look.
        fn sent(&mut self) -> Vec<&'static str> {
            std::iter::from_fn(|| self.queue.try_recv().ok()).map(|outgoing| name(&outgoing.message())).collect()
        }
    }

    fn name(message: &ToRunner) -> &'static str {
        match message {
            ToRunner::Settings { .. } => "settings",
            ToRunner::Load { .. } => "load",
            ToRunner::Keep { .. } => "keep",
            ToRunner::Forget => "forget",
            ToRunner::Run { .. } => "run",
            ToRunner::HttpAnswer { .. } => "answer",
            ToRunner::Cancel { .. } => "cancel",
        }
    }

    fn ended(run: RunNumber, output: &str) -> FromRunner {
        let outcome = Outcome::Succeeded { output: output.into() };
        FromRunner::Ended { run, executed: Box::new(Ok(Executed::ended(outcome))) }
    }

    fn kind(mut answer: Answer) -> String {
        match answer.try_recv().expect("an answer").expect("an end").outcome {
            Outcome::Succeeded { output } => output,
            Outcome::Failed { exception_type, .. } => exception_type,
        }
    }

    #[test]
    fn code_is_sent_once() {
        let (mut stage, bundle) = (stage(), Arc::from([1, 2, 3].as_slice()));
        let first = stage.begin(1, &bundle);
        assert_eq!(stage.sent(), ["load", "keep", "run"]);
        let second = stage.begin(2, &bundle);
        let _of_another_tool = stage.begin(3, &Arc::from([1, 2, 3].as_slice()));
        let _of_none = (stage.begin(4, &Arc::default()), stage.begin(5, &Arc::default()));
        assert_eq!(stage.sent()[..3], ["run", "keep", "run"]);
        stage.conversation.take(ended(2, "two")).unwrap();
        stage.conversation.take(ended(1, "one")).unwrap();
        assert_eq!((kind(first), kind(second)), ("one".into(), "two".into()));
    }

    #[test]
    fn what_a_runner_keeps_is_bounded() {
        let mut stage = stage();
        let mut most = 0;
        for run in 0..40 {
            let _answer = stage.begin(run, &Arc::from(vec![0; 8 << 20]));
            most = most.max(stage.conversation.given.bundle_bytes());
        }
        assert_eq!(most, 64 << 20);
        let sent = stage.sent();
        let count = |name: &str| sent.iter().filter(|sent| **sent == name).count();
        assert_eq!((count("run"), count("keep"), count("forget"), count("load")), (40, 40, 4, 5));
    }

    #[test]
    fn code_that_is_not_there_fails_its_run_alone() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let mut missing = execution(&bundle, 1_000);
        missing.code.component = Digest::of(b"another");
        let answer = stage.begin_with(1, missing, Ports::closed());
        assert!(matches!(answer.blocking_recv(), Ok(Err(Error::Internal { .. }))));
        assert!(stage.sent().is_empty() && stage.conversation.is_idle());
    }

    #[test]
    fn a_runner_speaks_of_its_own_runs_only() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let answer = stage.begin(1, &bundle);
        stage.conversation.take(ended(2, "forged")).unwrap();
        stage.conversation.take(FromRunner::Event { run: 2, document: "{".into() }).unwrap();
        stage.conversation.take(FromRunner::GiveUp { run: 2, exchange: 0 }).unwrap();
        stage.conversation.take(ended(1, "own")).unwrap();
        stage.conversation.take(ended(1, "again")).unwrap();
        assert_eq!(kind(answer), "own");
    }

    #[test]
    fn events_are_counted_again() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let (seen, sink) = std::sync::mpsc::channel();
        let events = Box::new(move |document: StatusDocument| seen.send(document.message).unwrap());
        let _answer = stage.begin_with(1, execution(&bundle, 1_000), Ports { events, ..Ports::closed() });
        let event = |message: &str| FromRunner::Event { run: 1, document: json!({"message": message}).to_string() };
        stage.conversation.take(event("one")).unwrap();
        assert!(matches!(stage.conversation.take(event(&"x".repeat(10_000))), Err(Breach::TooMuch)));
        stage.conversation.take(event("two")).unwrap();
        assert!(matches!(stage.conversation.take(event("three")), Err(Breach::TooMuch)));
        let no_event = FromRunner::Event { run: 1, document: "[]".into() };
        assert!(matches!(stage.conversation.take(no_event), Err(Breach::TooMuch)));
        assert_eq!(sink.try_iter().collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn a_fault_of_the_host_ends_one_run() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let events = Box::new(|_| panic!("on purpose"));
        let failed = stage.begin_with(1, execution(&bundle, 1_000), Ports { events, ..Ports::closed() });
        let sibling = stage.begin(2, &bundle);
        stage.sent();
        let document = || json!({"message": "one"}).to_string();
        stage.conversation.take(FromRunner::Event { run: 1, document: document() }).unwrap();
        assert!(matches!(failed.blocking_recv(), Ok(Err(Error::Internal { .. }))));
        assert_eq!(stage.sent(), ["cancel"]);
        stage.conversation.take(FromRunner::Event { run: 2, document: document() }).unwrap();
        stage.conversation.take(ended(2, "fine")).unwrap();
        assert_eq!(kind(sibling), "fine");
    }

    #[test]
    fn an_end_that_says_more_than_it_may_is_none() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let (long, sibling) = (stage.begin(1, &bundle), stage.begin(2, &bundle));
        assert!(matches!(stage.conversation.take(ended(1, "more than ten bytes")), Err(Breach::TooMuch)));
        assert_eq!(kind(long), "runner_crashed");
        assert_eq!(stage.conversation.lose(), 1);
        assert_eq!(kind(sibling), "runner_crashed");
    }

    #[test]
    fn a_run_that_does_not_end_is_told_from_its_siblings() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let long = stage.begin_with(1, execution(&bundle, 60_000), Ports::closed());
        let short = stage.begin_with(2, execution(&bundle, 1_000), Ports::closed());
        let deadline = stage.conversation.deadline().expect("two runs");
        assert!(deadline > Instant::now() + Duration::from_secs(2));
        assert_eq!(stage.conversation.expire(deadline - Duration::from_millis(1)), 0);
        assert_eq!(stage.conversation.expire(deadline), 1);
        assert_eq!(stage.conversation.lose(), 1);
        assert_eq!((kind(short), kind(long)), ("timeout_wall".into(), "runner_crashed".into()));
    }

    #[tokio::test]
    async fn http_is_answered_and_given_up() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let _answer = stage.begin(1, &bundle);
        stage.sent();
        let request =
            || HttpRequest { method: "GET".into(), url: String::new(), headers: Vec::new(), body: Vec::new() };
        stage.conversation.take(FromRunner::HttpRequest { run: 1, exchange: 0, request: request() }).unwrap();
        let answer = stage.queue.recv().await.expect("an answer").message();
        let ToRunner::HttpAnswer { run: 1, exchange: 0, result } = answer else { panic!("an answer") };
        let closed = HttpError::new(HttpErrorCode::Denied, "nothing is reached from here");
        assert_eq!(result.unwrap_err(), closed);

        let http: crate::HttpSender = Arc::new(|_| Box::pin(std::future::pending()));
        let _waits = stage.begin_with(2, execution(&bundle, 1_000), Ports { http, ..Ports::closed() });
        let mut ask =
            |exchange| stage.conversation.take(FromRunner::HttpRequest { run: 2, exchange, request: request() });
        (0..64).for_each(|exchange| ask(exchange).unwrap());
        assert!(matches!(ask(64), Err(Breach::TooMuch)));
        stage.conversation.take(FromRunner::GiveUp { run: 2, exchange: 3 }).unwrap();
        tokio::task::yield_now().await;
        stage.conversation.take(FromRunner::HttpRequest { run: 2, exchange: 65, request: request() }).unwrap();
    }

    #[test]
    fn a_run_that_nobody_waits_for_is_stopped() {
        let (mut stage, bundle) = (stage(), Arc::default());
        let _answer = stage.begin(1, &bundle);
        stage.sent();
        stage.conversation.cancel(1);
        stage.conversation.cancel(1);
        assert_eq!(stage.sent(), ["cancel"]);
        assert!(stage.conversation.is_idle());
    }
}
