//! Questions to the clients of sessions, which answer while their call waits.

#![expect(deprecated, reason = "sampling and roots, which clients of sessions have")]

use std::time::Duration;

use futures_util::future::try_join_all;
use rmcp::model::InputRequest;
use rmcp::{Peer, RoleServer};
use runner::{Answer, Question, is_result};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::dialogue::Open;

/// Time that a person has to answer. A session ends after five minutes without a message.
const ANSWERED_WITHIN: Duration = Duration::from_mins(4);

/// Why a session has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error("the client did not answer within {} min", ANSWERED_WITHIN.as_secs() / 60)]
    Late,
    #[error("the client did not answer: {0}")]
    Failed(String),
    #[error("the client answered in a wrong form")]
    WrongForm,
}

/// Asks the client of a session all questions at once.
pub async fn ask(peer: &Peer<RoleServer>, open: Open) -> Result<Vec<Answer>, Unanswered> {
    let Open { questions, mut requests, .. } = open;
    let asked = questions.iter().filter_map(|question| Some((question, requests.remove(&question.key)?)));
    let asked = try_join_all(asked.map(|(question, request)| ask_one(peer, question, request)));
    timeout(ANSWERED_WITHIN, asked).await.map_err(|_| Unanswered::Late)?
}

async fn ask_one(peer: &Peer<RoleServer>, question: &Question, request: InputRequest) -> Result<Answer, Unanswered> {
    let result: Value = match request {
        InputRequest::Elicitation(request) => {
            json!(peer.create_elicitation(request.params).await.map_err(explain_failure)?)
        }
        InputRequest::CreateMessage(request) => {
            json!(peer.create_message(request.params).await.map_err(explain_failure)?)
        }
        InputRequest::ListRoots(_) => json!(peer.list_roots().await.map_err(explain_failure)?),
        _ => return Err(Unanswered::WrongForm),
    };
    if is_result(question.kind, &result) {
        Ok(Answer::to(question, result.to_string()))
    } else {
        Err(Unanswered::WrongForm)
    }
}

fn explain_failure(error: rmcp::ServiceError) -> Unanswered {
    Unanswered::Failed(error.to_string())
}
