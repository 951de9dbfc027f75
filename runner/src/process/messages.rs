//! What the server and a runner tell each other: plain data.

use std::fmt;
use std::sync::Arc;

use registry::Digest;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::confinement::Confinement;
use crate::ports::{HttpError, HttpRequest, HttpResponse};
use crate::{Executed, Execution};

/// A run, as the two sides call it. No number is used twice.
pub type RunNumber = u64;
/// Code of an author, as the two sides call it.
pub type BundleNumber = u64;
/// An HTTP exchange of a run.
pub type ExchangeNumber = u32;

/// From the server to a runner. The first message is `Settings`.
#[derive(Serialize, Deserialize)]
pub enum ToRunner {
    Settings {
        parallel_runs_max: u32,
    },
    /// Compiled code. The file comes along, verified.
    Load {
        component: Digest,
        bytes: u64,
    },
    Keep {
        bundle: BundleNumber,
        bytes: Blob,
    },
    /// Drop all code that no run uses: the server counts what a runner keeps.
    Forget,
    /// The execution's own bundle is left out, and named instead.
    Run {
        run: RunNumber,
        bundle: BundleNumber,
        execution: Box<Execution>,
    },
    HttpAnswer {
        run: RunNumber,
        exchange: ExchangeNumber,
        result: Result<HttpResponse, HttpError>,
    },
    /// Nobody waits for the run any more.
    Cancel {
        run: RunNumber,
    },
}

/// From a runner to the server. The first message is `Ready`.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromRunner {
    Ready {
        confinement: Confinement,
    },
    /// A status event, as JSON.
    Event {
        run: RunNumber,
        document: String,
    },
    HttpRequest {
        run: RunNumber,
        exchange: ExchangeNumber,
        request: HttpRequest,
    },
    /// The tool wants no answer any more.
    GiveUp {
        run: RunNumber,
        exchange: ExchangeNumber,
    },
    /// The end of a run; a text instead is the host's own failure.
    Ended {
        run: RunNumber,
        executed: Box<Result<Executed, String>>,
    },
}

/// Bytes that go through serde in one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob(pub Arc<[u8]>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BlobVisitor)
    }
}

struct BlobVisitor;

impl Visitor<'_> for BlobVisitor {
    type Value = Blob;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
        Ok(Blob(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use registry::{Cost, Denied, HttpUse, Ledger, Used};
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{HttpErrorCode, Limits, Outcome};

    fn travelled<T: Serialize + DeserializeOwned>(message: &T) -> T {
        postcard::from_bytes(&postcard::to_allocvec(message).unwrap()).unwrap()
    }

    /// The form of messages takes no part whose presence depends on its value.
    #[test]
    fn the_end_of_a_run_arrives_whole() {
        let one =
            HttpUse { host: "example.com".into(), status: Some(200), secrets: vec!["A".into()], ..HttpUse::default() };
        let other = HttpUse { error: Some("denied".into()), ..HttpUse::default() };
        let ledger = Ledger {
            used: Used { http: vec![one, other], clock_reads: 1, ..Used::default() },
            refused: Denied { status_events: 3, ..Denied::default() },
            cost: Cost { cpu_ms: 4, guest_us: 6, host_us: 7, waiting_us: 8, memory_peak_bytes: 5 },
            ..Ledger::default()
        };
        let failed = Outcome::Failed {
            exception_type: "E".into(),
            exception_message: "é\0".into(),
            exception_stack_trace: vec![String::new(), "line".into()],
        };
        for outcome in [failed, Outcome::Succeeded { output: "{}".into() }] {
            let (duration, logs) = (Duration::from_micros(1_234_567), "printed\n".to_owned());
            let executed = Executed { duration, logs, ledger: ledger.clone(), ..Executed::ended(outcome) };
            let expected = format!("{executed:?}");
            let message = travelled(&FromRunner::Ended { run: 7, executed: Box::new(Ok(executed)) });
            let FromRunner::Ended { run: 7, executed } = message else { panic!("an end") };
            assert_eq!(format!("{:?}", executed.unwrap()), expected);
        }
    }

    #[test]
    fn a_run_arrives_without_its_bundle() {
        let execution = Execution {
            code: crate::Code { component: Digest::of(b"a component"), bundle: Arc::from([1, 2, 3].as_slice()) },
            tool_input: "{}".into(),
            metadata: "m".into(),
            config: "c".into(),
            conversation: "null".into(),
            user_variables: "u".into(),
            limits: Limits::MAX,
            group: 0,
            taping: crate::Taping::On,
        };
        let message = travelled(&ToRunner::Run { run: 1, bundle: 2, execution: Box::new(execution) });
        let ToRunner::Run { run: 1, bundle: 2, execution } = message else { panic!("a run") };
        assert_eq!((execution.code.component, execution.code.bundle.len()), (Digest::of(b"a component"), 0));
        let texts = [&execution.tool_input, &execution.metadata, &execution.config, &execution.conversation];
        assert_eq!(texts, ["{}", "m", "c", "null"]);
        assert_eq!((execution.user_variables.as_str(), execution.limits), ("u", Limits::MAX));
    }

    #[test]
    fn bytes_and_refusals_arrive() {
        let blob = Blob(Arc::from((0..=255).collect::<Vec<u8>>()));
        assert_eq!(travelled(&blob), blob);
        let result = Err(HttpError::new(HttpErrorCode::Simulated, "why"));
        let message = travelled(&ToRunner::HttpAnswer { run: 1, exchange: 2, result: result.clone() });
        let ToRunner::HttpAnswer { result: arrived, .. } = message else { panic!("an answer") };
        assert_eq!(arrived, result);
    }
}
