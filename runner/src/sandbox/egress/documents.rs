//! Documents that the server itself reads from other hosts, such as descriptions of clients that sign in.
//!
//! The operator's hosts and networks apply, as for requests of tools. Redirects are not followed, no header carries a secret, and
//! size, time and number are bounded. Anyone can ask for a document, so that a request beyond the number is refused at once, a
//! failure is remembered for a while, and all failures look the same: they would tell which ports of other hosts are open.

mod places;
mod recent;
mod refused;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{ACCEPT, HOST, USER_AGENT};
use registry::CacheBound;
use tokio::time::timeout;

use super::byte_counts::ByteCounts;
use super::counted_stream::CountedStream;
use super::exchange::exchange;
use super::service::Egress;
use super::shared::EgressShared;
use super::target::Target;
use crate::sandbox::ports::{HttpError, HttpErrorCode, HttpResponse};
use places::{Place, Places};
use recent::Recent;

pub use refused::DocumentRefused;

/// Bytes of a document. The largest that are known have less than 2 KiB.
const DOCUMENT_BYTES_MAX: u64 = 8 << 10;
/// Time for one document, from the name of its host to its last byte. A person waits for it.
const DOCUMENT_TIME_MAX: Duration = Duration::from_secs(5);
/// Time for which a failure is remembered: short for the author of a document who mends it, and long enough that a host that
/// says nothing takes a place for a fraction of the time only.
const FAILURE_AGE_MAX: Duration = Duration::from_secs(30);
/// The failures that are remembered, some hundreds with the longest URLs.
pub(crate) const DOCUMENT_FAILURES: CacheBound =
    CacheBound { name: "failures of other hosts' documents", bytes_max: 256 << 10 };
/// Time for which a document is used while no other can be read. A client that is used is not shut out by others.
const DOCUMENT_AGE_MAX: Duration = Duration::from_mins(10);
/// These documents.
pub(crate) const KNOWN_DOCUMENTS: CacheBound = CacheBound { name: "documents of other hosts", bytes_max: 1 << 20 };
const PRODUCT: &str = concat!("lathe/", env!("CARGO_PKG_VERSION"));

/// Reads JSON documents by HTTPS. Clones share the bounds.
#[derive(Clone)]
pub struct Documents {
    shared: Arc<EgressShared>,
    places: Places,
    /// The URLs that failed, and the hosts that could not be connected to.
    failures: Arc<Recent<()>>,
    known: Arc<Recent<Vec<u8>>>,
}

/// The step at which a document failed.
enum Failure {
    /// The operator does not permit the host, or it cannot be connected to.
    Host(String),
    /// The host answers, but not with the document.
    Document(String),
}

impl Documents {
    pub(crate) fn of(egress: &Egress) -> Self {
        Self {
            shared: egress.shared(),
            places: Places::default(),
            failures: Arc::new(Recent::new(FAILURE_AGE_MAX, DOCUMENT_FAILURES)),
            known: Arc::new(Recent::new(DOCUMENT_AGE_MAX, KNOWN_DOCUMENTS)),
        }
    }

    /// Returns the JSON document at an `https` URL in its normal form, for the client with this address.
    pub async fn read(&self, url: &str, client: Option<IpAddr>) -> Result<Vec<u8>, DocumentRefused> {
        let Ok(target) = Target::parse(url) else { return Err(DocumentRefused::Unavailable) };
        let host = format!("host {}", target.authority());
        if self.has_failed(url) || self.has_failed(&host) {
            return Err(DocumentRefused::Unavailable);
        }
        let place = match self.places.take(client, target.authority()) {
            Ok(place) => place,
            Err(refused) => {
                return self.known.get(url, self.shared.clock.now()).ok_or(refused);
            }
        };
        let failure = match self.fetch(&target, &place).await {
            Ok(document) => {
                self.known.insert(url, document.clone(), self.shared.clock.now());
                return Ok(document);
            }
            Err(failure) => failure,
        };
        let (failed, reason) = match failure {
            Failure::Host(reason) => (host.as_str(), reason),
            Failure::Document(reason) => (url, reason),
        };
        tracing::info!(url, reason, "a document is not read");
        self.failures.insert(failed, (), self.shared.clock.now());
        self.known.remove(url);
        Err(DocumentRefused::Unavailable)
    }

    fn has_failed(&self, what: &str) -> bool {
        self.failures.get(what, self.shared.clock.now()).is_some()
    }

    async fn fetch(&self, target: &Target, place: &Place) -> Result<Vec<u8>, Failure> {
        let is_connected = AtomicBool::new(false);
        // The host is to blame only until it has connected: it may have one slow document among others.
        let failure = |reason| match is_connected.load(Ordering::Relaxed) {
            true => Failure::Document(reason),
            false => Failure::Host(reason),
        };
        let read = timeout(DOCUMENT_TIME_MAX, self.exchange(target, place, &is_connected)).await;
        let read = read.map_err(|_| failure(format!("it took longer than {} s", DOCUMENT_TIME_MAX.as_secs())))?;
        let response = read.map_err(|error| failure(error.message))?;
        if response.status != 200 {
            return Err(Failure::Document(format!("its host answers {}", response.status)));
        }
        match response.headers.iter().any(|(name, value)| name == "content-type" && is_json(value)) {
            true => Ok(response.body),
            false => Err(Failure::Document("it is not application/json".into())),
        }
    }

    async fn exchange(
        &self,
        target: &Target,
        place: &Place,
        is_connected: &AtomicBool,
    ) -> Result<HttpResponse, HttpError> {
        if !target.is_secure || !self.shared.hosts.iter().any(|host| target.is_permitted(host)) {
            let message = format!("the operator of this server does not permit {}", target.authority());
            return Err(HttpError::new(HttpErrorCode::Denied, message));
        }
        let connection = self.shared.connector.connect(target, Arc::clone(&place.resolving)).await?;
        is_connected.store(true, Ordering::Relaxed);
        let bytes = Arc::new(ByteCounts::new(self.shared.clock.now()));
        let stream = CountedStream::new(connection.stream, bytes, DOCUMENT_BYTES_MAX);
        exchange(stream, request(target)?, DOCUMENT_BYTES_MAX).await
    }
}

fn request(target: &Target) -> Result<Request<Full<Bytes>>, HttpError> {
    let builder = Request::get(&target.path_and_query).header(HOST, target.authority());
    let builder = builder.header(ACCEPT, "application/json").header(USER_AGENT, PRODUCT);
    let invalid = |_| HttpError::new(HttpErrorCode::InvalidRequest, "the URL is invalid");
    builder.body(Full::default()).map_err(invalid)
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type == "application/json" || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use registry::{Clock, HostPattern, Timestamp};

    use super::*;
    use crate::config::EgressConfig;

    fn documents(hosts: &[&str], clock: Clock) -> Documents {
        let hosts = hosts.iter().map(|host| HostPattern::parse(host).unwrap()).collect();
        Documents::of(&Egress::new(EgressConfig { hosts, ..EgressConfig::default() }, clock).unwrap())
    }

    async fn refusal(hosts: &[&str], url: &str) -> String {
        let documents = documents(hosts, Clock::system());
        assert_eq!(documents.read(url, None).await, Err(DocumentRefused::Unavailable), "{url}");
        let (target, place) = (Target::parse(url).unwrap(), documents.places.take(None, String::new()).unwrap());
        documents.exchange(&target, &place, &AtomicBool::new(false)).await.map(|_| ()).unwrap_err().message
    }

    #[tokio::test]
    async fn documents_come_from_permitted_public_hosts_by_https() {
        for (hosts, url, words) in [
            (&["*"][..], "https://127.0.0.1/client.json", "not on the public Internet"),
            (&["*"], "https://169.254.169.254/client.json", "not on the public Internet"),
            (&["*"], "https://[::1]/client.json", "not on the public Internet"),
            (&["*"], "http://192.0.2.1/client.json", "does not permit"),
            (&["*"], "https://192.0.2.1:22/client.json", "does not permit"),
            (&["a.example.com"], "https://b.example.com/client.json", "does not permit"),
            (&[], "https://b.example.com/client.json", "does not permit"),
        ] {
            let said = refusal(hosts, url).await;
            assert!(said.contains(words), "{url}: {said}");
        }
    }

    #[tokio::test]
    async fn a_host_that_failed_is_not_asked_again_for_a_while() {
        let clock = Clock::fixed(Timestamp::from_milliseconds(1_000_000));
        let documents = documents(&["*"], clock.clone());
        let read = async |url| documents.read(url, None).await;
        assert_eq!(read("https://127.0.0.1/client.json").await, Err(DocumentRefused::Unavailable));
        // Nothing is asked, so that no place is needed.
        let taken: Vec<_> = (0..8).map(|number: u8| documents.places.take(None, number.to_string()).unwrap()).collect();
        assert_eq!(read("https://127.0.0.1/other.json").await, Err(DocumentRefused::Unavailable));
        assert_eq!(read("https://127.0.0.2/client.json").await, Err(DocumentRefused::Busy));
        clock.advance(FAILURE_AGE_MAX);
        assert_eq!(read("https://127.0.0.1/client.json").await, Err(DocumentRefused::Busy));
        drop(taken);
        assert_eq!(read("https://127.0.0.1/client.json").await, Err(DocumentRefused::Unavailable));
    }

    #[tokio::test]
    async fn a_document_that_was_read_is_used_while_no_other_can_be() {
        const URL: &str = "https://a.example.com/client.json";
        let clock = Clock::fixed(Timestamp::from_milliseconds(1_000_000));
        let documents = documents(&["*"], clock.clone());
        documents.known.insert(URL, b"{}".to_vec(), clock.now());
        let _taken: Vec<_> =
            (0..8).map(|number: u8| documents.places.take(None, number.to_string()).unwrap()).collect();
        assert_eq!(documents.read(URL, None).await, Ok(b"{}".to_vec()));
        clock.advance(DOCUMENT_AGE_MAX);
        assert_eq!(documents.read(URL, None).await, Err(DocumentRefused::Busy));
    }

    #[test]
    fn json_has_a_media_type() {
        for (kind, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/cimd+json", true),
            ("text/html", false),
            ("", false),
        ] {
            assert_eq!(is_json(kind), expected, "{kind}");
        }
    }
}
