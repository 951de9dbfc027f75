//! Models that decide which tools an agent calls, behind the APIs that most servers of models speak.

mod anthropic;
mod client;
mod openai;
mod request_body;
mod settings;
mod text_step;
mod transcript;

pub use client::{Model, ModelFailure};
pub use settings::{ModelApi, ModelBounds, ModelSettings};
pub use transcript::{ModelCall, ModelRequest, ToolDefinition, TranscriptEntry};
