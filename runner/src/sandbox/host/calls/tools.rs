//! The interface `lathe:tool/tools`.

use wasmtime::Result;

use crate::sandbox::bindings::tool::lathe::tool::tools as wire;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::tool_call::{ToolCall, ToolCallCode, ToolCallError, answer_of};

impl wire::Host for HostCall<'_> {
    async fn start(&mut self, name: String, arguments: String) -> Result<u32> {
        self.start_exchange(ToolCall { name, arguments }.into())
    }

    async fn finish(&mut self, exchange: u32) -> Result<Result<String, wire::CallError>> {
        let answer = self.finish_exchange(exchange).await?;
        Ok(answer_of(answer).map_err(|ToolCallError { code, kind, message }| wire::CallError {
            code: code.into(),
            kind,
            message,
        }))
    }
}

impl From<ToolCallCode> for wire::ErrorCode {
    fn from(code: ToolCallCode) -> Self {
        match code {
            ToolCallCode::Denied => Self::Denied,
            ToolCallCode::InvalidArguments => Self::InvalidArguments,
            ToolCallCode::Budget => Self::Budget,
            ToolCallCode::Failed => Self::Failed,
        }
    }
}
