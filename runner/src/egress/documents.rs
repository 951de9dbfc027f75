//! Documents that the server itself reads from other hosts, such as descriptions of clients that sign in.
//!
//! The operator's hosts and networks apply, as for requests of tools. Redirects are not followed, no header carries a secret, and
//! size, time and number are bounded.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{ACCEPT, HOST, USER_AGENT};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::byte_counts::ByteCounts;
use super::counted_stream::CountedStream;
use super::exchange::exchange;
use super::service::Egress;
use super::shared::EgressShared;
use super::target::Target;
use crate::ports::{HttpError, HttpErrorCode, HttpResponse};

/// Bytes of a document. The largest that are known have less than 2 KiB.
const DOCUMENT_BYTES_MAX: u64 = 8 << 10;
/// Time for one document, from the name of its host to its last byte. A person waits for it.
const DOCUMENT_TIME_MAX: Duration = Duration::from_secs(5);
/// Documents that are read at the same time. Anyone can ask for one.
const PARALLEL_MAX: usize = 8;
const AGENT: &str = concat!("lathe/", env!("CARGO_PKG_VERSION"));

/// Reads JSON documents by HTTPS. Clones share the bounds.
#[derive(Clone)]
pub struct Documents {
    shared: Arc<EgressShared>,
    parallel: Arc<Semaphore>,
}

impl Documents {
    pub(crate) fn of(egress: &Egress) -> Self {
        Self { shared: egress.shared(), parallel: Arc::new(Semaphore::new(PARALLEL_MAX)) }
    }

    /// Returns the JSON document at an `https` URL.
    ///
    /// # Errors
    /// The reason why there is no document, for people.
    pub async fn read(&self, url: &str) -> Result<Vec<u8>, String> {
        let read = timeout(DOCUMENT_TIME_MAX, self.exchange(url)).await;
        let read = read.map_err(|_| format!("it took longer than {} s", DOCUMENT_TIME_MAX.as_secs()))?;
        let response = read.map_err(|error| presentable(url, error))?;
        if response.status != 200 {
            return Err(format!("its host answers {}", response.status));
        }
        let is_json = response.headers.iter().any(|(name, value)| name == "content-type" && is_json(value));
        if is_json { Ok(response.body) } else { Err("it is not application/json".into()) }
    }

    async fn exchange(&self, url: &str) -> Result<HttpResponse, HttpError> {
        let target = Target::parse(url)?;
        if !target.is_secure || !self.shared.hosts.iter().any(|host| target.is_permitted(host)) {
            let message = format!("the operator of this server does not permit {}", target.authority());
            return Err(HttpError::new(HttpErrorCode::Denied, message));
        }
        let closing = |_| HttpError::new(HttpErrorCode::Budget, "the server is shutting down");
        let _permit = self.parallel.acquire().await.map_err(closing)?;
        let resolving = Arc::new(Semaphore::new(1));
        let connection = self.shared.connector.connect(&target, resolving).await?;
        let bytes = Arc::new(ByteCounts::new(self.shared.clock.now()));
        let stream = CountedStream::new(connection.stream, bytes, DOCUMENT_BYTES_MAX);
        exchange(stream, request(&target)?, DOCUMENT_BYTES_MAX).await
    }
}

/// The reason for people. Whether a name resolves, and to which network, is told to nobody: anyone can ask.
fn presentable(url: &str, error: HttpError) -> String {
    match error.code {
        HttpErrorCode::Denied | HttpErrorCode::Unreachable => {
            tracing::info!(url, reason = error.message, "a document is not read");
            "its host cannot be reached, or the operator of this server does not permit it".into()
        }
        _ => error.message,
    }
}

fn request(target: &Target) -> Result<Request<Full<Bytes>>, HttpError> {
    let builder = Request::get(&target.path_and_query).header(HOST, target.authority());
    let builder = builder.header(ACCEPT, "application/json").header(USER_AGENT, AGENT);
    let invalid = |_| HttpError::new(HttpErrorCode::InvalidRequest, "the URL is invalid");
    builder.body(Full::default()).map_err(invalid)
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type == "application/json" || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use registry::{Clock, HostPattern};

    use super::*;
    use crate::egress::EgressConfig;

    async fn refusal(hosts: &[&str], url: &str) -> String {
        let hosts = hosts.iter().map(|host| HostPattern::parse(host).unwrap()).collect();
        let egress = Egress::new(EgressConfig { hosts, ..EgressConfig::default() }, Clock::system()).unwrap();
        let documents = Documents::of(&egress);
        let shown = documents.read(url).await.unwrap_err();
        assert!(shown.starts_with("its host cannot be reached, or"), "{shown}");
        documents.exchange(url).await.map(|_| ()).unwrap_err().message
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
