//! Asynchronous operations.

mod operation;

pub use operation::{
    BegunOperation, IdempotencyKey, NewOperation, Once, OperationEnd, OperationKind, OperationState, QueuedPublication,
    Refused, TrackedOperation,
};
