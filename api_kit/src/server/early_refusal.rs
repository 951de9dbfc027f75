//! Refusals of connections that never had a whole request, in the same form as every other refusal.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::Error;
use crate::request_id::RequestId;
use crate::response_headers::{NO_SNIFF, NO_STORE};

/// Time to write a refusal. Its few hundred bytes fit into the buffer of a working socket.
const WRITE_TIME_MAX: Duration = Duration::from_millis(100);

/// Writes a refusal. The client may be gone.
pub(super) async fn send(tcp: &mut TcpStream, id: &RequestId, error: Error) {
    let Ok(refusal) = error.into_refusal() else { return };
    let status = refusal.status;
    let retry_after = refusal.retry_after_seconds().map(|seconds| format!("retry-after: {seconds}\r\n"));
    let Ok(body) = serde_json::to_string(&refusal) else { return };
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncache-control: {NO_STORE}\r\n\
         x-content-type-options: {NO_SNIFF}\r\ncontent-length: {}\r\nx-request-id: {}\r\n\
         {}connection: close\r\n\r\n{body}",
        body.len(),
        id.as_str(),
        retry_after.unwrap_or_default(),
    );
    tracing::debug!(request_id = id.as_str(), code = refusal.code, "connection refused before a whole request");
    if let Ok(Err(error)) = timeout(WRITE_TIME_MAX, tcp.write_all(response.as_bytes())).await {
        tracing::debug!(%error, "cannot write a refusal");
    }
}
