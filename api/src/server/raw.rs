//! Refusals of connections that never had a whole request, in the form that every refusal has.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::error::Error;
use crate::request_id::RequestId;

/// A few hundred bytes fit into the buffer of any socket that works.
const WRITE_TIME_MAX: Duration = Duration::from_millis(100);

/// Writes a refusal. Whether the client hears it is its own matter.
pub(super) async fn refuse(tcp: &mut TcpStream, id: &RequestId, error: Error) {
    let Ok(refusal) = error.into_refusal() else { return };
    let status = refusal.status;
    let retry_after = refusal.retry_after_seconds().map(|seconds| format!("retry-after: {seconds}\r\n"));
    let Ok(body) = serde_json::to_string(&refusal) else { return };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {}\r\n\
         {}connection: close\r\n\r\n{body}",
        body.len(),
        id.as_str(),
        retry_after.unwrap_or_default(),
    );
    tracing::debug!(request_id = id.as_str(), code = refusal.code, "refused before a request");
    if let Ok(Err(error)) = timeout(WRITE_TIME_MAX, tcp.write_all(answer.as_bytes())).await {
        tracing::debug!(%error, "a refusal could not be told");
    }
}
