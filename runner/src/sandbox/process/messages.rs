//! Messages between the server and a runner, as plain data.

use std::fmt;
use std::sync::Arc;

use registry::Digest;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::layer::Confinement;
use crate::sandbox::ports::{HttpError, HttpRequest, HttpResponse};
use crate::{CodeBundle, Executed, Execution};

/// Number of a run, never reused.
pub type RunNumber = u64;
/// Number of an HTTP exchange within its run.
pub type ExchangeNumber = u32;

/// Message from the server to a runner. The first message is `Settings`.
#[derive(Serialize, Deserialize)]
pub enum ToRunner {
    Settings {
        parallel_runs_max: u32,
    },
    /// Loads compiled code. The descriptor of the verified file accompanies the message.
    Load {
        component: Digest,
        bytes: u64,
    },
    /// Keeps an author's bundle for later runs.
    Keep {
        bundle: CodeBundle,
        bytes: Blob,
    },
    /// Drops all code that no run uses. The server counts what a runner keeps.
    Forget,
    /// Begins a run. Its bundle was sent before.
    Run {
        run: RunNumber,
        execution: Box<Execution>,
    },
    HttpAnswer {
        run: RunNumber,
        exchange: ExchangeNumber,
        result: Result<HttpResponse, HttpError>,
    },
    /// Stops a run whose caller is gone.
    Cancel {
        run: RunNumber,
    },
}

/// Message from a runner to the server. The first message is `Ready`.
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
    /// A log message, as JSON.
    Log {
        run: RunNumber,
        document: String,
    },
    HttpRequest {
        run: RunNumber,
        exchange: ExchangeNumber,
        request: HttpRequest,
    },
    /// Cancels an exchange whose tool no longer waits for it.
    GiveUp {
        run: RunNumber,
        exchange: ExchangeNumber,
    },
    /// The end of a run; `Err` is a failure of the host.
    Ended {
        run: RunNumber,
        executed: Box<Result<Executed, String>>,
    },
}

/// Bytes that serde handles as one piece.
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

    use registry::{ContentBlock, Cost, Denied, HttpUse, Ledger, Used};
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{HttpErrorCode, Limits, Outcome, Printed};

    fn round_trip<T: Serialize + DeserializeOwned>(message: &T) -> T {
        postcard::from_bytes(&postcard::to_allocvec(message).unwrap()).unwrap()
    }

    /// Postcard does not support fields that are skipped depending on their value.
    #[test]
    fn the_end_of_a_run_survives_encoding() {
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
            let logs = Printed { text: "printed\n".to_owned(), shown: 3, refusals: "1".to_owned() };
            let duration = Duration::from_micros(1_234_567);
            let content = vec![
                ContentBlock::Text { text: "é".into() },
                ContentBlock::Image { data: vec![0, 255], mime_type: "image/png".into() },
            ];
            let executed = Executed { duration, logs, content, ledger: ledger.clone(), ..Executed::ended(outcome) };
            let expected = format!("{executed:?}");
            let message = round_trip(&FromRunner::Ended { run: 7, executed: Box::new(Ok(executed)) });
            let FromRunner::Ended { run: 7, executed } = message else { panic!("an end") };
            assert_eq!(format!("{:?}", executed.unwrap()), expected);
        }
    }

    #[test]
    fn a_run_is_sent_without_the_bytes_of_its_bundle() {
        let documents = crate::RunDocuments { tool_input: "{}".into(), metadata: "m".into(), ..Default::default() };
        let execution = Execution {
            code: crate::Code { component: Digest::of(b"a component"), bundle: CodeBundle::new([1, 2, 3]) },
            documents: documents.clone(),
            limits: Limits::MAX,
            group: 0,
            tape_mode: crate::TapeMode::Record,
            interaction: crate::Interaction::default(),
        };
        let message = round_trip(&ToRunner::Run { run: 1, execution: Box::new(execution) });
        let ToRunner::Run { run: 1, execution } = message else { panic!("a run") };
        let crate::Code { component, bundle } = execution.code;
        assert_eq!((component, *bundle.digest()), (Digest::of(b"a component"), Digest::of(&[1, 2, 3])));
        assert!(bundle.bytes().is_empty());
        assert_eq!((execution.documents, execution.limits), (documents, Limits::MAX));
    }

    #[test]
    fn bytes_and_http_errors_survive_encoding() {
        let blob = Blob(Arc::from((0..=255).collect::<Vec<u8>>()));
        assert_eq!(round_trip(&blob), blob);
        let result = Err(HttpError::new(HttpErrorCode::Simulated, "why"));
        let message = round_trip(&ToRunner::HttpAnswer { run: 1, exchange: 2, result: result.clone() });
        let ToRunner::HttpAnswer { result: arrived, .. } = message else { panic!("an answer") };
        assert_eq!(arrived, result);
    }
}
