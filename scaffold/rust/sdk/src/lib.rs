//! The package for Lathe tools in Rust.
//!
//! ```ignore
//! use lathe::{Context, Error};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Input {
//!     /// The name of the person
//!     name: String,
//! }
//!
//! lathe::tool!(run_tool);
//!
//! fn run_tool(input: Input, context: &Context) -> Result<String, Error> {
//!     context.send_status_event("greeting");
//!     Ok(format!("Hello, {}", input.name))
//! }
//! ```

mod apis;
#[doc(hidden)]
#[rustfmt::skip]
#[expect(clippy::too_many_arguments, reason = "the canonical ABI takes a record apart")]
pub mod bindings;
mod content;
mod context;
mod entry_point;
mod error;
mod host;
pub mod http;
mod interaction;
mod json;
mod log;
mod runtime;
mod status;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod tools;

pub use content::{ContentBlock, ContentError, ContentErrorCode, ResourceContents};
pub use context::{Config, Context, Conversation, Metadata, UserVariables, Variables};
pub use error::Error;
pub use interaction::{InputError, InputErrorCode, InputResult, Question};
pub use log::{LogLevel, LogMessage};
pub use serde_json::json;
pub use status::StatusEvent;

/// Declares the function of the tool. Its parameters are the input, whose type implements `serde::Deserialize` and
/// `schemars::JsonSchema`, and a `&Context`. It returns a `Result` with a type that implements `serde::Serialize`, and
/// [`Error`].
#[macro_export]
macro_rules! tool {
    ($run_tool:path) => {
        const _: () = {
            struct Tool;

            impl $crate::__private::Guest for Tool {
                fn run_tool(
                    context: $crate::__private::Context,
                ) -> ::core::result::Result<::std::string::String, $crate::__private::ToolError> {
                    $crate::__private::run(context, $run_tool)
                }

                fn input_schema() -> ::std::string::String {
                    $crate::__private::input_schema($run_tool)
                }
            }

            $crate::bindings::export! { Tool with_types_in $crate::bindings }
        };
    };
}

/// Declares the functions of a tool with several APIs: the name of each API, as in `apis` of `Cargo.toml`, and its function,
/// which is one as for [`tool!`].
///
/// ```ignore
/// lathe::apis!(create: create_order, list: orders::list);
/// ```
#[macro_export]
macro_rules! apis {
    ($($name:ident: $function:path),+ $(,)?) => {
        const _: () = {
            struct Tool;

            impl $crate::__private::Guest for Tool {
                fn run_tool(
                    context: $crate::__private::Context,
                ) -> ::core::result::Result<::std::string::String, $crate::__private::ToolError> {
                    match $crate::__private::api_name(&context).as_str() {
                        $(::core::stringify!($name) => $crate::__private::run_api(context, $function),)+
                        other => ::core::result::Result::Err($crate::__private::unknown_api(other)),
                    }
                }

                fn input_schema() -> ::std::string::String {
                    let schemas = [$((::core::stringify!($name), $crate::__private::api_schema($function))),+];
                    $crate::__private::report(::core::file!(), schemas)
                }
            }

            $crate::bindings::export! { Tool with_types_in $crate::bindings }
        };
    };
}

/// Items that only [`tool!`] and [`apis!`] use.
#[doc(hidden)]
pub mod __private {
    pub use crate::apis::{api_name, api_schema, report, run_api, unknown_api};
    pub use crate::bindings::{Context, Guest, ToolError};
    pub use crate::entry_point::{input_schema, run};
}
