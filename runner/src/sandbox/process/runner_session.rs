//! The server's side of the messages with one runner: the runs in flight there, and the artifacts sent to it.
//!
//! A guest that escaped its sandbox may control the runner. So messages about runs that the runner does not have are ignored, and
//! a message beyond the bounds of its run ends the session.

use std::collections::HashMap;

use tokio::time::Instant;

use super::in_flight_run::{InFlightRun, Job, ProtocolViolation};
use super::mailbox::{Mailbox, unsent};
use super::messages::{FromRunner, RunNumber, ToRunner};
use super::sent_artifacts::SentArtifacts;
use crate::sandbox::code::CodeStore;
use crate::{Error, Execution};

pub struct RunnerSession {
    mailbox: Mailbox,
    sent: SentArtifacts,
    runs: HashMap<RunNumber, InFlightRun>,
}

impl RunnerSession {
    pub fn new(mailbox: Mailbox, codes: CodeStore) -> Self {
        Self { sent: SentArtifacts::new(mailbox.clone(), codes), mailbox, runs: HashMap::new() }
    }

    /// The artifacts that were sent to the runner.
    pub const fn sent(&mut self) -> &mut SentArtifacts {
        &mut self.sent
    }

    /// Begins a run. A run that cannot begin is answered with the error.
    pub fn begin(&mut self, run: RunNumber, job: Job) {
        let Job { execution, ports, answer } = job;
        let limits = execution.limits;
        match self.send(run, execution) {
            Ok(()) => drop(self.runs.insert(run, InFlightRun::new(limits, ports, answer))),
            Err(error) => drop(answer.send(Err(error))), // the caller may be gone
        }
    }

    /// Stops a run whose caller is gone.
    pub fn cancel(&mut self, run: RunNumber) {
        if self.runs.remove(&run).is_some() {
            drop(self.mailbox.post(&ToRunner::Cancel { run }));
        }
    }

    /// Handles a message of the runner. Messages of a run that has ended may still arrive.
    ///
    /// # Errors
    /// When the message violates the protocol.
    pub fn handle(&mut self, message: FromRunner) -> Result<(), ProtocolViolation> {
        match message {
            FromRunner::Ready { .. } => Err(ProtocolViolation::UnexpectedMessage),
            FromRunner::Event { run, document } => self.pass_event(run, |run| run.pass_event(&document)),
            FromRunner::Log { run, document } => self.pass_event(run, |run| run.log(&document)),
            FromRunner::HttpRequest { run, exchange, request } => {
                let Some(in_flight) = self.runs.get_mut(&run) else { return Ok(()) };
                let mailbox = self.mailbox.clone();
                let answer = move |result| drop(mailbox.post(&ToRunner::HttpAnswer { run, exchange, result }));
                in_flight.request(exchange, request, answer)
            }
            FromRunner::GiveUp { run, exchange } => {
                if let Some(in_flight) = self.runs.get_mut(&run) {
                    in_flight.cancel_exchange(exchange);
                }
                Ok(())
            }
            FromRunner::Ended { run, executed } => match self.runs.remove(&run) {
                Some(in_flight) => in_flight.end(*executed),
                None => Ok(()),
            },
        }
    }

    /// Passes on an event, and ends the run when the host's code for it panics.
    fn pass_event(
        &mut self,
        run: RunNumber,
        pass_on: impl FnOnce(&mut InFlightRun) -> Result<(), ProtocolViolation>,
    ) -> Result<(), ProtocolViolation> {
        let Some(in_flight) = self.runs.get_mut(&run) else { return Ok(()) };
        pass_on(in_flight)?;
        if in_flight.has_failed() {
            self.runs.remove(&run).into_iter().for_each(InFlightRun::fail);
            drop(self.mailbox.post(&ToRunner::Cancel { run }));
        }
        Ok(())
    }

    /// Returns whether no run is in flight.
    pub fn is_idle(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the earliest deadline of the runs in flight.
    pub fn deadline(&self) -> Option<Instant> {
        self.runs.values().map(InFlightRun::deadline).min()
    }

    /// Ends the runs whose deadlines have passed, and returns their number.
    pub fn expire(&mut self, now: Instant) -> usize {
        let overdue = self.runs.extract_if(|_, run| run.deadline() <= now);
        overdue.map(|(_, run)| run.time_out()).count()
    }

    /// Ends all runs of a runner that is gone, and returns their number.
    pub fn lose(&mut self) -> usize {
        self.runs.drain().map(|(_, run)| run.crash()).count()
    }

    fn send(&mut self, run: RunNumber, execution: Box<Execution>) -> Result<(), Error> {
        self.sent.ensure(&execution.code)?;
        self.mailbox.post(&ToRunner::Run { run, execution }).map_err(unsent)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use registry::{CONTENT_BLOCKS_MAX, ContentBlock, Digest};
    use serde_json::json;
    use tempfile::TempDir;
    use tokio::sync::mpsc::UnboundedReceiver;
    use tokio::sync::oneshot::{self, Receiver};

    use super::*;
    use crate::sandbox::code::CodeCache;
    use crate::sandbox::ports::LOG_MESSAGES_MAX;
    use crate::sandbox::process::mailbox::OutgoingFrame;
    use crate::{
        Code, CodeBundle, EventDocument, Executed, HttpError, HttpErrorCode, HttpRequest, Limits, Outcome, Ports,
    };

    type PendingResult = Receiver<Result<Executed, Error>>;

    struct Fixture {
        session: RunnerSession,
        queue: UnboundedReceiver<OutgoingFrame>,
        _cache: TempDir,
    }

    fn component() -> Digest {
        Digest::of(b"a component")
    }

    fn fixture() -> Fixture {
        let cache = tempfile::tempdir().unwrap();
        let codes = CodeCache::open(cache.path(), [1; 32]).unwrap();
        codes.keep(&component(), b"native code").unwrap();
        let (mailbox, queue) = Mailbox::new();
        Fixture { session: RunnerSession::new(mailbox, CodeStore::new(codes)), queue, _cache: cache }
    }

    fn execution(bundle: &CodeBundle, wall_ms: u64) -> Execution {
        Execution {
            code: Code { component: component(), bundle: bundle.clone() },
            documents: crate::RunDocuments::default(),
            limits: Limits { wall_ms, status_events: 2, output_bytes: 10, ..Limits::DEFAULT },
            group: 0,
            tape_mode: crate::TapeMode::Off,
            interaction: crate::Interaction::default(),
        }
    }

    impl Fixture {
        fn begin(&mut self, run: RunNumber, bundle: &CodeBundle) -> PendingResult {
            self.begin_with(run, execution(bundle, 1_000), Ports::closed())
        }

        fn begin_with(&mut self, run: RunNumber, execution: Execution, ports: Ports) -> PendingResult {
            let execution = Box::new(execution);
            let (answer, answered) = oneshot::channel();
            self.session.begin(run, Job { execution, ports, answer });
            answered
        }

        /// Names of the messages sent since the last call.
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

    fn kind(mut answer: PendingResult) -> String {
        match answer.try_recv().expect("an answer").expect("an end").outcome {
            Outcome::Succeeded { output } => output,
            Outcome::Failed { exception_type, .. } => exception_type,
        }
    }

    #[test]
    fn artifacts_are_sent_once() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::new([1, 2, 3]));
        let first = fixture.begin(1, &bundle);
        assert_eq!(fixture.sent(), ["load", "keep", "run"]);
        let second = fixture.begin(2, &bundle);
        let _equal = fixture.begin(3, &CodeBundle::new([1, 2, 3]));
        let _other = fixture.begin(4, &CodeBundle::new([1, 2]));
        let _empty = (fixture.begin(5, &CodeBundle::default()), fixture.begin(6, &CodeBundle::default()));
        assert_eq!(fixture.sent(), ["run", "run", "keep", "run", "keep", "run", "run"]);
        fixture.session.handle(ended(2, "two")).unwrap();
        fixture.session.handle(ended(1, "one")).unwrap();
        assert_eq!((kind(first), kind(second)), ("one".into(), "two".into()));
    }

    #[test]
    fn artifacts_kept_by_a_runner_are_bounded() {
        let mut fixture = fixture();
        let mut most = 0;
        for run in 0..40_u64 {
            let mut bytes = vec![0; 8 << 20];
            bytes[..8].copy_from_slice(&run.to_le_bytes());
            let _answer = fixture.begin(run, &CodeBundle::new(bytes));
            most = most.max(fixture.session.sent.bundle_bytes());
        }
        assert_eq!(most, 64 << 20);
        let sent = fixture.sent();
        let count = |name: &str| sent.iter().filter(|sent| **sent == name).count();
        assert_eq!((count("run"), count("keep"), count("forget"), count("load")), (40, 40, 4, 5));
    }

    #[test]
    fn missing_code_fails_one_run() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let mut missing = execution(&bundle, 1_000);
        missing.code.component = Digest::of(b"another");
        let answer = fixture.begin_with(1, missing, Ports::closed());
        assert!(matches!(answer.blocking_recv(), Ok(Err(Error::Internal { .. }))));
        assert!(fixture.sent().is_empty() && fixture.session.is_idle());
    }

    #[test]
    fn messages_about_other_runs_are_ignored() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let answer = fixture.begin(1, &bundle);
        fixture.session.handle(ended(2, "forged")).unwrap();
        fixture.session.handle(FromRunner::Event { run: 2, document: "{".into() }).unwrap();
        fixture.session.handle(FromRunner::GiveUp { run: 2, exchange: 0 }).unwrap();
        fixture.session.handle(ended(1, "own")).unwrap();
        fixture.session.handle(ended(1, "again")).unwrap();
        assert_eq!(kind(answer), "own");
    }

    #[test]
    fn limits_of_events_are_enforced_by_the_server() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let (seen, sink) = std::sync::mpsc::channel();
        let events = Box::new(move |document| match document {
            EventDocument::Status(document) => seen.send(document.message).unwrap(),
            EventDocument::Log(document) => seen.send(document.to_string()).unwrap(),
        });
        let _answer = fixture.begin_with(1, execution(&bundle, 1_000), Ports { events, ..Ports::closed() });
        let event = |message: &str| FromRunner::Event { run: 1, document: json!({"message": message}).to_string() };
        fixture.session.handle(event("one")).unwrap();
        assert!(matches!(fixture.session.handle(event(&"x".repeat(10_000))), Err(ProtocolViolation::LimitExceeded)));
        fixture.session.handle(event("two")).unwrap();
        assert!(matches!(fixture.session.handle(event("three")), Err(ProtocolViolation::LimitExceeded)));
        let no_event = FromRunner::Event { run: 1, document: "[]".into() };
        assert!(matches!(fixture.session.handle(no_event), Err(ProtocolViolation::LimitExceeded)));
        assert_eq!(sink.try_iter().collect::<Vec<_>>(), ["one", "two"]);
        let log = |logger: &str, data: &str| FromRunner::Log {
            run: 1,
            document: json!({"level": "error", "logger": logger, "data": data}).to_string(),
        };
        fixture.session.handle(log("billing", "no rate")).unwrap();
        assert_eq!(sink.try_iter().collect::<Vec<_>>(), ["[error] billing: no rate"]);
        for message in [log("", "x"), log("a\n", "x"), log("a", &"x".repeat(100_000))] {
            assert!(matches!(fixture.session.handle(message), Err(ProtocolViolation::LimitExceeded)));
        }
        (1..LOG_MESSAGES_MAX).for_each(|_| fixture.session.handle(log("a", "b")).unwrap());
        assert!(matches!(fixture.session.handle(log("a", "b")), Err(ProtocolViolation::LimitExceeded)));
    }

    #[test]
    fn content_beyond_its_bounds_crashes_the_run() {
        let blocks = |count: usize, mime_type: &str| {
            vec![ContentBlock::Image { data: vec![1], mime_type: mime_type.to_owned() }; count]
        };
        for (content, expected) in [
            (blocks(CONTENT_BLOCKS_MAX, "image/png"), ""),
            (blocks(CONTENT_BLOCKS_MAX + 1, "image/png"), "runner_crashed"),
            (blocks(1, "nothing"), "runner_crashed"),
        ] {
            let (mut fixture, bundle) = (fixture(), CodeBundle::default());
            let answer = fixture.begin(1, &bundle);
            let executed = Executed { content, ..Executed::ended(Outcome::Succeeded { output: String::new() }) };
            let handled = fixture.session.handle(FromRunner::Ended { run: 1, executed: Box::new(Ok(executed)) });
            assert_eq!((handled.is_ok(), kind(answer).as_str()), (expected.is_empty(), expected));
        }
    }

    #[test]
    fn a_panic_of_the_host_ends_one_run() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let events = Box::new(|_| panic!("on purpose"));
        let failed = fixture.begin_with(1, execution(&bundle, 1_000), Ports { events, ..Ports::closed() });
        let sibling = fixture.begin(2, &bundle);
        fixture.sent();
        let document = || json!({"message": "one"}).to_string();
        fixture.session.handle(FromRunner::Event { run: 1, document: document() }).unwrap();
        assert!(matches!(failed.blocking_recv(), Ok(Err(Error::Internal { .. }))));
        assert_eq!(fixture.sent(), ["cancel"]);
        fixture.session.handle(FromRunner::Event { run: 2, document: document() }).unwrap();
        fixture.session.handle(ended(2, "fine")).unwrap();
        assert_eq!(kind(sibling), "fine");
    }

    #[test]
    fn an_end_beyond_the_limits_crashes_the_run() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let (long, sibling) = (fixture.begin(1, &bundle), fixture.begin(2, &bundle));
        assert!(matches!(
            fixture.session.handle(ended(1, "more than ten bytes")),
            Err(ProtocolViolation::LimitExceeded)
        ));
        assert_eq!(kind(long), "runner_crashed");
        assert_eq!(fixture.session.lose(), 1);
        assert_eq!(kind(sibling), "runner_crashed");
    }

    #[test]
    fn an_overdue_run_times_out_and_its_siblings_crash() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let long = fixture.begin_with(1, execution(&bundle, 60_000), Ports::closed());
        let short = fixture.begin_with(2, execution(&bundle, 1_000), Ports::closed());
        let deadline = fixture.session.deadline().expect("two runs");
        assert!(deadline > Instant::now() + Duration::from_secs(2));
        assert_eq!(fixture.session.expire(deadline - Duration::from_millis(1)), 0);
        assert_eq!(fixture.session.expire(deadline), 1);
        assert_eq!(fixture.session.lose(), 1);
        assert_eq!((kind(short), kind(long)), ("timeout_wall".into(), "runner_crashed".into()));
    }

    #[tokio::test]
    async fn http_exchanges_are_answered_and_cancelled() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let _answer = fixture.begin(1, &bundle);
        fixture.sent();
        let request =
            || HttpRequest { method: "GET".into(), url: String::new(), headers: Vec::new(), body: Vec::new() };
        fixture.session.handle(FromRunner::HttpRequest { run: 1, exchange: 0, request: request() }).unwrap();
        let answer = fixture.queue.recv().await.expect("an answer").message();
        let ToRunner::HttpAnswer { run: 1, exchange: 0, result } = answer else { panic!("an answer") };
        let closed = HttpError::new(HttpErrorCode::Denied, "outbound HTTP is not available here");
        assert_eq!(result.unwrap_err(), closed);

        let http: crate::HttpSender = Arc::new(|_| Box::pin(std::future::pending()));
        let _waits = fixture.begin_with(2, execution(&bundle, 1_000), Ports { http, ..Ports::closed() });
        let mut ask =
            |exchange| fixture.session.handle(FromRunner::HttpRequest { run: 2, exchange, request: request() });
        (0..64).for_each(|exchange| ask(exchange).unwrap());
        assert!(matches!(ask(64), Err(ProtocolViolation::LimitExceeded)));
        fixture.session.handle(FromRunner::GiveUp { run: 2, exchange: 3 }).unwrap();
        tokio::task::yield_now().await;
        fixture.session.handle(FromRunner::HttpRequest { run: 2, exchange: 65, request: request() }).unwrap();
    }

    #[test]
    fn a_cancelled_run_is_stopped_once() {
        let (mut fixture, bundle) = (fixture(), CodeBundle::default());
        let _answer = fixture.begin(1, &bundle);
        fixture.sent();
        fixture.session.cancel(1);
        fixture.session.cancel(1);
        assert_eq!(fixture.sent(), ["cancel"]);
        assert!(fixture.session.is_idle());
    }
}
