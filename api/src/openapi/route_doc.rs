//! A row of the route table as the document shows it.

use registry::Permission;

use super::{Inputs, OperationDoc};

/// Method, path and permission of an operation, with its inputs and its description.
#[derive(Clone, Copy)]
pub(crate) struct RouteDoc<'a> {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// `None` for public routes.
    pub(crate) permission: Option<Permission>,
    pub(crate) inputs: &'a Inputs,
    /// `None` when the description is missing, which stops the start-up.
    pub(crate) operation: Option<&'a OperationDoc>,
}
