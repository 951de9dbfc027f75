//! Recorded answers on their way from a run into the store, and from there into a simulation.

use registry::{HeardAnswer, NewAnswers, OrganizationId, ToolId};

use super::Invoker;
use crate::redact::Redactor;
use crate::{Error, Heard, HttpError, HttpErrorCode, HttpResponse, Recall};

/// The first byte of a kept answer. A release that keeps another form takes another number.
const FORMAT: u8 = 1;

impl Invoker {
    /// What a run heard, for its record. What cannot be kept is missed, and never fails the run.
    pub(super) async fn sealed_answers(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        heard: Vec<Heard>,
    ) -> Option<NewAnswers> {
        let sealed = async {
            let answers = heard.iter().map(written).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, Error>(self.store.seal_answers(organization, tool, answers).await?)
        };
        match sealed.await {
            Ok(sealed) => Some(sealed),
            Err(error) => {
                tracing::error!(%tool, %error, "recorded answers cannot be kept");
                None
            }
        }
    }

    /// Where the simulations of a tool find what its requests were answered.
    pub(super) fn recall(&self, organization: &OrganizationId, tool: &ToolId) -> Recall {
        let (invoker, organization, tool) = (self.clone(), organization.clone(), tool.clone());
        std::sync::Arc::new(move |request| {
            let (invoker, organization, tool) = (invoker.clone(), organization.clone(), tool.clone());
            Box::pin(async move { invoker.recorded(&organization, &tool, request).await })
        })
    }

    async fn recorded(
        &self,
        organization: &OrganizationId,
        tool: &ToolId,
        request: [u8; 32],
    ) -> Result<Option<HttpResponse>, HttpError> {
        let found = async {
            let found = self.store.recorded_answer(organization, tool, &request).await?;
            found.map_or(Ok(None), |bytes| read(&bytes))
        };
        found.await.map_err(|error: Error| {
            tracing::error!(%tool, %error, "a recorded answer cannot be read");
            let message = "this is a simulation, and the recorded answer to the request cannot be read";
            HttpError::new(HttpErrorCode::Simulated, message)
        })
    }
}

/// Those in which none of these secrets is. What a later redaction looks for is what the tool has then.
pub(super) fn without_secrets(heard: Vec<Heard>, secrets: &Redactor) -> Vec<Heard> {
    let has_none = |one: &Heard| {
        let headers = one.response.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        let said = headers.collect::<String>() + &String::from_utf8_lossy(&one.response.body);
        secrets.text(said.clone()) == said
    };
    heard.into_iter().filter(has_none).collect()
}

fn written(heard: &Heard) -> Result<HeardAnswer, Error> {
    let bytes = postcard::to_extend(&heard.response, vec![FORMAT]);
    let bytes = bytes.map_err(|error| Error::internal(error.to_string()))?;
    Ok(HeardAnswer { request: heard.request, bytes, at: heard.at })
}

/// Nothing for one of a release that wrote another form.
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

    fn heard(body: &str, header: &str) -> Heard {
        let headers = vec![("x-said".to_owned(), header.to_owned())];
        let response = HttpResponse { status: 201, headers, body: body.into() };
        Heard { request: [7; 32], response, at: Timestamp::from_milliseconds(5) }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let heard = heard("body", "value");
        let kept = written(&heard).unwrap();
        assert_eq!((kept.request, kept.at), (heard.request, heard.at));
        assert_eq!(read(&kept.bytes).unwrap(), Some(heard.response));
        assert_eq!(read(&[FORMAT + 1, 2, 3]).unwrap(), None);
        assert_eq!(read(b"").unwrap(), None);
        assert!(read(&kept.bytes[..kept.bytes.len() - 1]).is_err());
    }

    #[test]
    fn an_answer_that_says_a_secret_is_not_kept() {
        let secrets = Redactor::of(["canary-of-a-tool"].into_iter());
        let all = vec![
            heard("nothing", "of it"),
            heard("a canary-of-a-tool", ""),
            heard("", "canary-of-a-tool"),
            heard("63616e6172792d6f662d612d746f6f6c", ""),
        ];
        assert_eq!(without_secrets(all.clone(), &secrets), all[..1]);
        assert_eq!(without_secrets(all.clone(), &Redactor::Nothing), all);
    }
}
