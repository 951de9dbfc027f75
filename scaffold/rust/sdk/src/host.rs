//! The functions of the host. In an author's own tests, `testing` replaces them.

#[cfg(target_family = "wasm")]
pub(crate) use real::{
    Exchange, add_content, cancel, finish, finish_call, request_input, send_log, send_status_event, start, start_call,
    wait,
};

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::{
    Exchange, add_content, cancel, finish, finish_call, request_input, send_log, send_status_event, start, start_call,
    wait,
};

#[cfg(target_family = "wasm")]
mod real {
    pub use crate::bindings::lathe::tool::http::{Exchange, cancel, finish, start, wait};
    pub use crate::bindings::lathe::tool::tools::start as start_call;

    use crate::bindings::lathe::tool::{content, interaction, log, status, tools};
    use crate::tools::ToolCallError;
    use crate::{
        ContentBlock, ContentError, InputError, LogLevel, LogMessage, Question, ResourceContents, StatusEvent,
    };

    pub fn add_content(block: ContentBlock) -> Result<(), ContentError> {
        let block = match block {
            ContentBlock::Text(text) => content::Block::Text(text),
            ContentBlock::Image { data, mime_type } => content::Block::Image(content::Media { data, mime_type }),
            ContentBlock::Audio { data, mime_type } => content::Block::Audio(content::Media { data, mime_type }),
            ContentBlock::Resource { uri, mime_type, contents } => {
                let contents = match contents {
                    ResourceContents::Text(text) => content::ResourceContents::Text(text),
                    ResourceContents::Blob(blob) => content::ResourceContents::Blob(blob),
                };
                content::Block::Embedded(content::EmbeddedResource { uri, mime_type, contents })
            }
            ContentBlock::Link { uri, name, description, mime_type } => {
                content::Block::Link(content::ResourceLink { uri, name, description, mime_type })
            }
        };
        content::add(&block).map_err(|error| ContentError { code: error.code, message: error.message })
    }

    pub fn finish_call(call: Exchange) -> Result<String, ToolCallError> {
        tools::finish(call).map_err(|tools::CallError { code, kind, message }| ToolCallError { code, kind, message })
    }

    pub fn request_input(questions: &[(&str, Question)]) -> Result<Vec<String>, InputError> {
        let request =
            |(key, question): &(&str, Question)| interaction::Request { key: (*key).into(), body: question.body() };
        let requests: Vec<_> = questions.iter().map(request).collect();
        interaction::request_input(&requests).map_err(|error| InputError::new(error.code, error.message))
    }

    pub fn send_log(message: LogMessage) {
        let LogMessage { level, logger, data } = message;
        // A message beyond the limits of the host does not fail the run.
        drop(log::send(wire(level), logger.as_deref(), &data.to_string()));
    }

    const fn wire(level: LogLevel) -> log::Level {
        match level {
            LogLevel::Debug => log::Level::Debug,
            LogLevel::Info => log::Level::Info,
            LogLevel::Notice => log::Level::Notice,
            LogLevel::Warning => log::Level::Warning,
            LogLevel::Error => log::Level::Error,
            LogLevel::Critical => log::Level::Critical,
            LogLevel::Alert => log::Level::Alert,
            LogLevel::Emergency => log::Level::Emergency,
        }
    }

    pub fn send_status_event(event: &StatusEvent) {
        if let Ok(text) = serde_json::to_string(event) {
            // The record of the run counts events that the host refuses.
            drop(status::send(&text));
        }
    }
}
