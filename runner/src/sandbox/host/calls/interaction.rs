//! The interface `lathe:tool/interaction`.

use crate::interaction::{InputErrorCode, InputRefused, InputRequired, Reply};
use crate::sandbox::bindings::tool::lathe::tool::interaction as wire;
use crate::sandbox::host::environment::Environment;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::host::state::Host;
use crate::sandbox::tape::{Body, Effect};

/// Bytes of questions up to which a tape has them in full, so that a difference can show them.
const TAPED_BYTES_MAX: usize = 4 << 10;

impl wire::Host for HostCall<'_> {
    async fn request_input(
        &mut self,
        requests: Vec<wire::Request>,
    ) -> wasmtime::Result<Result<Vec<String>, wire::InputError>> {
        let requests: Vec<_> = requests.into_iter().map(|wire::Request { key, body }| (key, body)).collect();
        let encoded = serde_json::to_vec(&requests)?;
        let questions = if encoded.len() <= TAPED_BYTES_MAX { Body::whole(&encoded) } else { Body::digest(&encoded) };
        let Host { environment, interaction, asked, .. } = &mut **self;
        let reply = match environment {
            Environment::Live(_) => interaction.reply(requests, asked),
            Environment::Strict(strict) => strict.reply(),
            Environment::Lenient(lenient) => lenient.reply(&questions),
        };
        let answered = reply.clone();
        self.record_effect(|_| Effect::InputRequested { questions, reply: Box::new(answered) })?;
        match reply {
            Reply::Answered(results) => Ok(Ok(results)),
            Reply::Refused(InputRefused { code, message }) => Ok(Err(wire::InputError { code: code.into(), message })),
            Reply::Open => Err(InputRequired.into()),
        }
    }
}

impl From<InputErrorCode> for wire::ErrorCode {
    fn from(code: InputErrorCode) -> Self {
        match code {
            InputErrorCode::Unavailable => Self::Unavailable,
            InputErrorCode::Invalid => Self::Invalid,
            InputErrorCode::TooMany => Self::TooMany,
            InputErrorCode::TooLarge => Self::TooLarge,
        }
    }
}
