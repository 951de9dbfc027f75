//! Sends one request over a connection of its own, and reads the response.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HeaderMap, TRANSFER_ENCODING};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::counted_stream::CountedStream;
use crate::sandbox::ports::{HttpError, HttpErrorCode, HttpResponse};

/// Bytes of all headers of a response. They are held in memory before any header is read.
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 200;
/// Time between two parts of a response body.
const IDLE_TIME_MAX: Duration = Duration::from_secs(10);

/// Sends a request and reads its whole response. Dropping the future closes the connection.
pub async fn exchange(
    stream: CountedStream,
    request: Request<Full<Bytes>>,
    bytes_max: u64,
) -> Result<HttpResponse, HttpError> {
    let builder = http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX).to_owned();
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(report_broken)?;
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    let response = sender.send_request(request).await.map_err(report_broken)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(HttpError::new(HttpErrorCode::Protocol, "the server asks to switch to another protocol"));
    }
    let status = response.status().as_u16();
    let headers = read_fields(response.headers());
    Ok(HttpResponse { status, headers, body: read_body(response, bytes_max).await? })
}

/// The headers of a response without those about the connection.
fn read_fields(headers: &HeaderMap) -> Vec<(String, String)> {
    let passed = headers.iter().filter(|(name, _)| *name != CONNECTION && *name != TRANSFER_ENCODING);
    passed.map(|(name, value)| (name.to_string(), decode_latin_1(value.as_bytes()))).collect()
}

/// Reads bytes as Latin-1, the historical encoding of HTTP headers. Every byte is valid in it.
fn decode_latin_1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

async fn read_body(response: Response<Incoming>, bytes_max: u64) -> Result<Vec<u8>, HttpError> {
    let mut incoming = response.into_body();
    if incoming.size_hint().lower() > bytes_max {
        return Err(report_too_large(bytes_max));
    }
    let mut body = Vec::new();
    while let Some(frame) = timeout(IDLE_TIME_MAX, incoming.frame()).await.map_err(|_| report_idle())? {
        let Ok(data) = frame.map_err(report_broken)?.into_data() else { continue };
        if (body.len() + data.len()) as u64 > bytes_max {
            return Err(report_too_large(bytes_max));
        }
        body.extend_from_slice(&data);
    }
    Ok(body)
}

fn report_too_large(bytes_max: u64) -> HttpError {
    HttpError::new(HttpErrorCode::ResponseTooLarge, format!("the response has more than {bytes_max} bytes"))
}

fn report_idle() -> HttpError {
    HttpError::new(HttpErrorCode::Timeout, format!("the response paused for longer than {} s", IDLE_TIME_MAX.as_secs()))
}

fn report_broken(error: hyper::Error) -> HttpError {
    HttpError::new(HttpErrorCode::Protocol, format!("the HTTP exchange failed: {error}"))
}
