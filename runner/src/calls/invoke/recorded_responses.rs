//! Stores recorded responses, and reads them for simulations.

use std::sync::Arc;

use registry::{NewAnswers, OrganizationId, RecordedAnswer, Store, ToolId};

use crate::calls::redact::Redactor;
use crate::error::Error;
use crate::sandbox::egress::{RecordedResponse, ResponseLookup};
use crate::sandbox::ports::{HttpError, HttpErrorCode, HttpResponse};

/// The first byte of a stored response. A release with another format uses another number.
const FORMAT: u8 = 1;

/// The recorded responses of one tool.
#[derive(Clone)]
pub(super) struct ResponseStore {
    pub store: Store,
    pub organization: OrganizationId,
    pub tool: ToolId,
}

impl ResponseStore {
    /// Encrypts the responses of a run for its record. A failure is logged, and does not fail the run.
    pub async fn seal(&self, responses: Vec<RecordedResponse>) -> Option<NewAnswers> {
        let sealed = async {
            let answers = responses.iter().map(write_answer).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, Error>(self.store.history().seal_answers(&self.organization, &self.tool, answers).await?)
        };
        match sealed.await {
            Ok(sealed) => Some(sealed),
            Err(error) => {
                tracing::error!(tool = %self.tool, %error, "recorded answers cannot be kept");
                None
            }
        }
    }

    /// The lookup for simulations of the tool.
    pub fn into_lookup(self) -> ResponseLookup {
        Arc::new(move |request| {
            let responses = self.clone();
            Box::pin(async move { responses.find(request).await })
        })
    }

    async fn find(&self, request: [u8; 32]) -> Result<Option<HttpResponse>, HttpError> {
        let found = async {
            let found = self.store.history().recorded_answer(&self.organization, &self.tool, &request).await?;
            found.map_or(Ok(None), |bytes| read(&bytes))
        };
        found.await.map_err(|error: Error| {
            tracing::error!(tool = %self.tool, %error, "a recorded answer cannot be read");
            let message = "a simulation does not send this request, and its recorded answer cannot be read";
            HttpError::new(HttpErrorCode::Simulated, message)
        })
    }
}

/// Leaves out responses that contain a secret. Later redaction looks for the secrets that the tool has then.
pub(super) fn without_secrets(responses: Vec<RecordedResponse>, secrets: &Redactor) -> Vec<RecordedResponse> {
    let has_none = |one: &RecordedResponse| {
        let headers = one.response.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        let text = headers.collect::<String>() + &String::from_utf8_lossy(&one.response.body);
        secrets.text(text.clone()) == text
    };
    responses.into_iter().filter(has_none).collect()
}

fn write_answer(recorded: &RecordedResponse) -> Result<RecordedAnswer, Error> {
    let bytes = postcard::to_extend(&recorded.response, vec![FORMAT]);
    let bytes = bytes.map_err(|error| Error::internal(error.to_string()))?;
    Ok(RecordedAnswer { request: recorded.request, bytes, at: recorded.at })
}

/// Reads a stored response; `None` for one in the format of another release.
fn read(bytes: &[u8]) -> Result<Option<HttpResponse>, Error> {
    match bytes.split_first() {
        Some((&FORMAT, bytes)) => {
            postcard::from_bytes(bytes).map(Some).map_err(|error| Error::internal(error.to_string()))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use registry::Timestamp;

    use super::*;

    fn response(body: &str, header: &str) -> RecordedResponse {
        let headers = vec![("x-said".to_owned(), header.to_owned())];
        let response = HttpResponse { status: 201, headers, body: body.into() };
        RecordedResponse { request: [7; 32], response, at: Timestamp::from_milliseconds(5) }
    }

    #[test]
    fn a_response_is_read_as_it_was_written() {
        let recorded = response("body", "value");
        let kept = write_answer(&recorded).unwrap();
        assert_eq!((kept.request, kept.at), (recorded.request, recorded.at));
        assert_eq!(read(&kept.bytes).unwrap(), Some(recorded.response));
        assert_eq!(read(&[FORMAT + 1, 2, 3]).unwrap(), None);
        assert_eq!(read(b"").unwrap(), None);
        assert!(read(&kept.bytes[..kept.bytes.len() - 1]).is_err());
    }

    #[test]
    fn a_response_with_a_secret_is_not_kept() {
        let secrets = Redactor::of(["canary-of-a-tool"].into_iter());
        let all = vec![
            response("nothing", "of it"),
            response("a canary-of-a-tool", ""),
            response("", "canary-of-a-tool"),
            response("63616e6172792d6f662d612d746f6f6c", ""),
        ];
        assert_eq!(without_secrets(all.clone(), &secrets), all[..1]);
        assert_eq!(without_secrets(all.clone(), &Redactor::Nothing), all);
    }
}
