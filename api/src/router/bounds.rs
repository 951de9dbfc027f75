//! The bounds of each operation: the bytes of its body and of its response, and the kind of its work, which bounds how much of it
//! runs at the same time.
//!
//! [`table`] has one row for each operation. An operation without a row, or a row without an operation, stops the start-up. The
//! bytes of responses are enforced here, those of bodies where bodies are read, and the concurrency where the work is done; the
//! table in `docs/reference/limits.md` is made from these rows.

mod table;

use api_kit::error::Error;
use api_kit::in_progress::Work;
use api_kit::openapi::OperationDoc;
use axum::body::HttpBody as _;
use axum::response::Response;
use table::ROWS;

use super::route::Route;
pub use table::ResponseBound;

/// Bytes of a response that is no success. The message of a refusal has at most 64 KiB, and the problems of a request are bounded
/// in number and length; JSON makes up to six bytes of one.
pub(super) const REFUSAL_BYTES_MAX: u64 = 2 << 20;

/// Bytes of an output of a native tool: its characters, each of up to four bytes.
const NATIVE_OUTPUT_BYTES_MAX: u64 = 4 * runner::NATIVE_OUTPUT_CHARACTERS_MAX as u64;

/// The body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestBound {
    /// No body is read.
    Nothing,
    /// Bytes of the body.
    Bytes(usize),
    /// A stream that is processed while it arrives, within the limits of pushes and fetches.
    GitStream,
}

/// The bounds of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub request: RequestBound,
    pub response: ResponseBound,
    pub work: Work,
}

impl Route {
    /// The id of the operation.
    pub fn id(&self) -> Option<&'static str> {
        self.operation.as_ref().map(OperationDoc::id)
    }

    /// The bounds of the operation; `None` for one without a row, which stops the start-up.
    pub fn bounds(&self) -> Option<Bounds> {
        let id = self.operation.as_ref()?.id();
        let (response, work) = match self.has_envelopes() {
            true => (ResponseBound::Bytes(NATIVE_OUTPUT_BYTES_MAX), Work::Runs),
            false => ROWS.iter().find(|(row, ..)| *row == id).map(|(_, response, work)| (*response, *work))?,
        };
        Some(Bounds { request: self.request_bound(), response, work })
    }

    fn request_bound(&self) -> RequestBound {
        let operation = self.operation.as_ref();
        let has_body = self.inputs.body.is_some() || operation.is_some_and(OperationDoc::has_other_body);
        match has_body {
            _ if self.path.contains("{*git_path}") && self.method == "POST" => RequestBound::GitStream,
            true => RequestBound::Bytes(self.body.bytes_max()),
            false => RequestBound::Nothing,
        }
    }
}

/// Returns the first operation without a row, or row without an operation.
pub(super) fn find_problem(table: &[Route]) -> Option<String> {
    if let Some(route) = table.iter().find(|route| route.bounds().is_none()) {
        return Some(format!("{} {} has no row in api/src/router/bounds/table.rs", route.method, route.path));
    }
    let ids: Vec<_> = table.iter().filter_map(|route| route.operation.as_ref().map(OperationDoc::id)).collect();
    let unused = ROWS.iter().find(|(row, ..)| !ids.contains(row))?;
    Some(format!("the row {} of api/src/router/bounds/table.rs belongs to no operation", unused.0))
}

/// Replaces a response that has more bytes than its operation may return, which is a fault of the operation: it should have made a page
/// of it, or refused. A stream has no size before its end.
pub(super) fn check_size(response: Response, bound: ResponseBound) -> Result<Response, Error> {
    let bytes_max = match bound {
        _ if !response.status().is_success() => REFUSAL_BYTES_MAX,
        ResponseBound::Bytes(bytes_max) => bytes_max,
        ResponseBound::Stream => return Ok(response),
    };
    match response.body().size_hint().exact() {
        Some(bytes) if bytes > bytes_max => {
            Err(Error::Internal { detail: format!("a response of {bytes} bytes, of at most {bytes_max}") })
        }
        _ => Ok(response),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;

    use super::*;
    use crate::router::list_routes;
    use crate::sections;

    #[test]
    fn every_operation_has_a_row_and_every_row_an_operation() {
        assert_eq!(find_problem(&list_routes()), None);
        let mut fewer = list_routes();
        fewer.retain(|route| route.path != "/health/live");
        assert_eq!(
            find_problem(&fewer).unwrap(),
            "the row is-live of api/src/router/bounds/table.rs belongs to no operation"
        );
        let mut other = list_routes();
        other[0].operation = Some(OperationDoc::new("get-more", sections::SERVICE, "More"));
        assert_eq!(find_problem(&other).unwrap(), "GET / has no row in api/src/router/bounds/table.rs");
    }

    #[test]
    fn a_larger_response_is_a_fault() {
        let check = |status, bytes: u64, bound| {
            let body = Body::from(vec![b'x'; usize::try_from(bytes).unwrap()]);
            let mut response = Response::new(body);
            *response.status_mut() = status;
            check_size(response, bound).map(|response| response.status()).ok()
        };
        let bound = ResponseBound::Bytes(10);
        assert_eq!(check(StatusCode::OK, 10, bound), Some(StatusCode::OK));
        assert_eq!(check(StatusCode::OK, 11, bound), None);
        assert_eq!(check(StatusCode::BAD_REQUEST, 11, bound), Some(StatusCode::BAD_REQUEST));
        assert_eq!(check(StatusCode::BAD_REQUEST, REFUSAL_BYTES_MAX + 1, bound), None);
        assert_eq!(check(StatusCode::OK, 11, ResponseBound::Stream), Some(StatusCode::OK));
    }
}
