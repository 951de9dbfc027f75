//! A row of the route table as the document shows it.

use registry::Permission;

use super::{Inputs, OperationDoc};

/// Method, path and permission of an operation, with its inputs and its description.
#[derive(Clone, Copy)]
pub struct RouteDoc<'a> {
    pub method: &'static str,
    pub path: &'static str,
    /// `None` for public routes.
    pub permission: Option<Permission>,
    pub inputs: &'a Inputs,
    /// `None` when the description is missing, which stops the start-up.
    pub operation: Option<&'a OperationDoc>,
}
