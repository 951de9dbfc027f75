//! The same echo tool behind `wasi:http/incoming-handler`: one word in upper case.

use serde::{Deserialize, Serialize};
use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::types::{Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam};
use wasip2::io::streams::StreamError;

/// Far more than the measured body; a read returns the available bytes.
const READ_BYTES: u64 = 64 << 10;

struct Serve;

#[derive(Serialize, Deserialize)]
struct Text {
    text: String,
}

impl Guest for Serve {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let (status, body) = match answer(&request) {
            Ok(body) => (200, body),
            Err(why) => (400, why.into_bytes()),
        };
        // The client is gone, so that the error cannot be reported.
        let _ = send(out, status, &body);
    }
}

fn answer(request: &IncomingRequest) -> Result<Vec<u8>, String> {
    let input: Text = serde_json::from_slice(&read(request)?).map_err(|error| error.to_string())?;
    serde_json::to_vec(&Text { text: input.text.to_uppercase() }).map_err(|error| error.to_string())
}

fn read(request: &IncomingRequest) -> Result<Vec<u8>, String> {
    let body = request.consume().map_err(|()| "no body")?;
    let stream = body.stream().map_err(|()| "no stream")?;
    let mut read = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(bytes) => read.extend(bytes),
            Err(StreamError::Closed) => return Ok(read),
            Err(StreamError::LastOperationFailed(error)) => return Err(error.to_debug_string()),
        }
    }
}

fn send(out: ResponseOutparam, status: u16, bytes: &[u8]) -> Option<()> {
    let headers = Fields::new();
    headers.append("content-type", b"application/json").ok()?;
    headers.append("content-length", bytes.len().to_string().as_bytes()).ok()?;
    let response = OutgoingResponse::new(headers);
    response.set_status_code(status).ok()?;
    let body = response.body().ok()?;
    ResponseOutparam::set(out, Ok(response));
    let stream = body.write().ok()?;
    stream.blocking_write_and_flush(bytes).ok()?;
    drop(stream);
    OutgoingBody::finish(body, None).ok()
}

wasip2::http::proxy::export!(Serve);
