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
