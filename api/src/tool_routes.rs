//! The routes of native tools: `/api/v1/{memory,rules,skills,tasks,prompts,artifacts,preferences}`.
//!
//! A tool declares its routes beside its schemas (`runner::ToolRoute`). The parameters of path and query and the fields of the body
//! are the arguments of the tool ([`arguments`]), and the call takes the same steps as one of an agent ([`call`]). Every response is an
//! object that tells success from failure, also one that refuses a request before the tool is called ([`envelope`]).

mod arguments;
mod call;
mod description;
mod envelope;
mod query;

use agents::routed_tools;
use api_kit::caller::Caller;
use api_kit::openapi::{Inputs, OperationDoc};
use api_kit::tasks::Tasks;
use axum::extract::{Request, State};
use axum::routing::{MethodFilter, MethodRouter, on};
use registry::Permission;
use runner::{Invoker, RoutedTool, ToolRoute, Verb};

use crate::app::App;

pub(crate) use envelope::add_envelope;

/// An operation that calls a native tool.
pub(crate) struct ToolOperation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) permission: Permission,
    pub(crate) inputs: Inputs,
    pub(crate) operation: OperationDoc,
    pub(crate) handler: MethodRouter<App>,
}

/// Returns the operations of all native tools that have routes.
pub(crate) fn list_operations() -> Vec<ToolOperation> {
    routed_tools()
        .flat_map(|tool| tool.routes.iter().map(move |route| build_operation(&tool, *route)).collect::<Vec<_>>())
        .collect()
}

fn build_operation(tool: &RoutedTool, route: ToolRoute) -> ToolOperation {
    let (method, filter) = map_verb(route.verb);
    let name = tool.name;
    let handler = move |State(invoker): State<Invoker>,
                        State(tasks): State<Tasks>,
                        Caller(principal): Caller,
                        request: Request| {
        call::ToolRequest { name, route, principal, request }.respond(invoker, tasks)
    };
    ToolOperation {
        method,
        path: route.path,
        permission: tool.permission,
        inputs: description::describe_inputs(tool, route),
        operation: description::describe_operation(tool, route),
        handler: on(filter, handler),
    }
}

const fn map_verb(verb: Verb) -> (&'static str, MethodFilter) {
    match verb {
        Verb::Get => ("GET", MethodFilter::GET),
        Verb::Post => ("POST", MethodFilter::POST),
        Verb::Put => ("PUT", MethodFilter::PUT),
        Verb::Patch => ("PATCH", MethodFilter::PATCH),
        Verb::Delete => ("DELETE", MethodFilter::DELETE),
    }
}
