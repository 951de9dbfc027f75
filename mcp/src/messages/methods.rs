//! The methods that this server answers, each with the bytes of its result and the kind of its work. The bytes are enforced by
//! [`check_bounds`], those of a message by [`super::message`] and the route.

use std::io::{self, Write};

use api_kit::body_bounds::BodyBound;
use api_kit::in_progress::Work;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CompleteResult, GetPromptResponse, GetSkillResult, GetTaskResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult, ReadResourceResponse,
};

use super::message::{INITIALIZE_BYTES_MAX, PARAMETERS_BYTES_MAX};

/// Bytes of a message with inputs of a tool, values of a prompt, or answers.
const PAYLOAD: usize = BodyBound::Content.bytes_max();

/// A result without content.
const EMPTY: usize = 0;
/// A result with the agent's description and the instructions of its tools, or of a few fields.
const OBJECT: usize = 2 << 20;
/// A page of items, or the content of one; or a page of tools, with 1 MiB of schemas.
const PAGE: usize = 8 << 20;
/// The result of a call: 1 MiB of content, and an output as text and as structured content.
const RESULT: usize = 32 << 20;
/// A page of prompts: 1 MiB of names, descriptions and variables and one prompt more, in JSON with escapes, and tools that are prompts.
const PROMPTS: usize = 16 << 20;

/// A method of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct McpMethod {
    pub name: &'static str,
    /// Bytes of the parameters.
    pub request_bytes_max: usize,
    /// Bytes of a result; `None` for a stream.
    pub result_bytes_max: Option<usize>,
    pub work: Work,
}

/// All methods, in alphabetical order.
pub const METHODS: [McpMethod; 20] = [
    build_method("completion/complete", OBJECT, Work::Lists),
    build_method("initialize", OBJECT, Work::Memory),
    build_method("logging/setLevel", EMPTY, Work::Memory),
    build_method("ping", EMPTY, Work::Memory),
    build_method("prompts/get", PAGE, Work::Runs),
    build_method("prompts/list", PROMPTS, Work::Lists),
    build_method("resources/list", PAGE, Work::Lists),
    build_method("resources/read", PAGE, Work::Runs),
    build_method("resources/subscribe", EMPTY, Work::Reads),
    build_method("resources/templates/list", PAGE, Work::Memory),
    build_method("resources/unsubscribe", EMPTY, Work::Memory),
    build_method("server/discover", OBJECT, Work::Memory),
    build_method("skills/get", OBJECT, Work::Reads),
    build_method("skills/list", PAGE, Work::Lists),
    McpMethod {
        name: "subscriptions/listen",
        request_bytes_max: PARAMETERS_BYTES_MAX,
        result_bytes_max: None,
        work: Work::Stream,
    },
    build_method("tasks/cancel", EMPTY, Work::Writes),
    build_method("tasks/get", RESULT, Work::Reads),
    build_method("tasks/update", EMPTY, Work::AgentRuns),
    build_method("tools/call", RESULT, Work::Runs),
    build_method("tools/list", PAGE, Work::Memory),
];

const fn build_method(name: &'static str, bytes: usize, work: Work) -> McpMethod {
    McpMethod { name, request_bytes_max: find_parameters_bytes(name), result_bytes_max: Some(bytes), work }
}

/// Bytes of the parameters of a method.
const fn find_parameters_bytes(name: &str) -> usize {
    match name.as_bytes() {
        b"initialize" => INITIALIZE_BYTES_MAX,
        b"prompts/get" | b"tasks/update" | b"tools/call" => PAYLOAD,
        _ => PARAMETERS_BYTES_MAX,
    }
}

/// Refuses a result that is longer than the bound of its method. The SDK keeps a result several times while it sends it.
pub fn check_bounds<R: MethodResult>(method: &str, result: Result<R, ErrorData>) -> Result<R, ErrorData> {
    let result = result?;
    let row = METHODS.iter().find(|row| row.name == method);
    let Some(bytes_max) = row.and_then(|row| row.result_bytes_max) else { return Ok(result) };
    match result.write(BytesLeft(bytes_max)) {
        Ok(()) => Ok(result),
        Err(_) => {
            let text = format!("The result of {method} has more than {bytes_max} bytes.");
            tracing::error!(method, bytes_max, "a result for an MCP client is too long");
            Err(ErrorData::internal_error(text, None))
        }
    }
}

/// A result of which the bytes can be counted.
pub trait MethodResult {
    fn write(&self, bytes: BytesLeft) -> serde_json::Result<()>;
}

/// Results that the SDK serialises as they are.
macro_rules! results {
    ($($result:ty)*) => {$(
        impl MethodResult for $result {
            fn write(&self, bytes: BytesLeft) -> serde_json::Result<()> {
                serde_json::to_writer(bytes, self)
            }
        }
    )*};
}

/// Results instead of which the server may ask something. Questions have bounds of their own.
macro_rules! responses {
    ($($response:ident)*) => {$(
        impl MethodResult for $response {
            fn write(&self, bytes: BytesLeft) -> serde_json::Result<()> {
                match self {
                    Self::Complete(result) => serde_json::to_writer(bytes, result),
                    _ => Ok(()),
                }
            }
        }
    )*};
}

results! {
    CompleteResult GetSkillResult GetTaskResult ListPromptsResult ListResourceTemplatesResult ListResourcesResult
    ListSkillsResult ListToolsResult
}
responses! { CallToolResponse GetPromptResponse ReadResourceResponse }

/// Counts the bytes that are left, and fails when there are none.
pub struct BytesLeft(usize);

impl Write for BytesLeft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rmcp::model::CompletionInfo;

    use super::*;

    /// The functions of the gateway, with their methods. The SDK answers the other methods itself.
    const FUNCTIONS: [(&str, &str); 17] = [
        ("call_tool", "tools/call"),
        ("cancel_task", "tasks/cancel"),
        ("complete", "completion/complete"),
        ("get_prompt", "prompts/get"),
        ("get_skill", "skills/get"),
        ("get_task", "tasks/get"),
        ("list_prompts", "prompts/list"),
        ("list_resource_templates", "resources/templates/list"),
        ("list_resources", "resources/list"),
        ("list_skills", "skills/list"),
        ("list_tools", "tools/list"),
        ("listen", "subscriptions/listen"),
        ("read_resource", "resources/read"),
        ("set_level", "logging/setLevel"),
        ("subscribe", "resources/subscribe"),
        ("unsubscribe", "resources/unsubscribe"),
        ("update_task", "tasks/update"),
    ];
    const OF_SDK: [&str; 3] = ["initialize", "ping", "server/discover"];
    /// Functions of the gateway that answer no method.
    const OTHERS: [&str; 4] = ["get_info", "get_tool", "accepted_subscription_filter", "on_initialized"];

    #[test]
    fn every_method_of_the_gateway_has_bounds() {
        let source = include_str!("../endpoint/gateway.rs");
        let (_, handler) = source.split_once("impl ServerHandler for Gateway {").unwrap();
        let (handler, _) = handler.split_once("\n}\n").unwrap();
        let lines = handler.lines().filter_map(|line| line.strip_prefix("    "));
        let functions = lines.filter_map(|line| line.strip_prefix("fn ").or_else(|| line.strip_prefix("async fn ")));
        let names: BTreeSet<_> = functions.filter_map(|line| line.split('(').next()).collect();
        let expected: BTreeSet<_> = FUNCTIONS.iter().map(|(function, _)| *function).chain(OTHERS).collect();
        assert_eq!(names, expected);
        let methods: BTreeSet<_> = FUNCTIONS.iter().map(|(_, method)| *method).chain(OF_SDK).collect();
        assert_eq!(METHODS.iter().map(|row| row.name).collect::<Vec<_>>(), methods.into_iter().collect::<Vec<_>>());
        let of_sdk = |row: &&McpMethod| OF_SDK.contains(&row.name);
        let has_content = |row: &&McpMethod| row.result_bytes_max.is_some_and(|bytes| bytes > EMPTY);
        for row in METHODS.iter().filter(|row| has_content(row) && !of_sdk(row)) {
            assert!(source.contains(&format!("check_bounds(\"{}\"", row.name)), "{} is not bounded", row.name);
        }
    }

    #[test]
    fn a_longer_result_is_refused() {
        let result = |bytes: usize| CompleteResult::new(CompletionInfo::new(vec!["x".repeat(bytes)]).unwrap());
        let frame = serde_json::to_string(&result(0)).unwrap().len();
        let is_sent = |bytes: usize| check_bounds("completion/complete", Ok(result(bytes - frame))).is_ok();
        assert!(is_sent(OBJECT));
        assert!(!is_sent(OBJECT + 1));
    }
}
