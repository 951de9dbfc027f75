//! Constant expressions, evaluated when modules are merged.

use anyhow::Result;
use wasm_encoder::{ConstExpr, Instruction};
use wasmparser::{ConstExpr as Expression, Operator};

/// The value of a numeric constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    I32(i32),
    I64(i64),
    /// IEEE 754 bits.
    F32(u32),
    /// IEEE 754 bits.
    F64(u64),
}

impl Value {
    pub fn instruction(self) -> Instruction<'static> {
        match self {
            Self::I32(value) => Instruction::I32Const(value),
            Self::I64(value) => Instruction::I64Const(value),
            Self::F32(bits) => Instruction::F32Const(wasm_encoder::Ieee32::new(bits)),
            Self::F64(bits) => Instruction::F64Const(wasm_encoder::Ieee64::new(bits)),
        }
    }

    pub fn expression(self) -> ConstExpr {
        match self {
            Self::I32(value) => ConstExpr::i32_const(value),
            Self::I64(value) => ConstExpr::i64_const(value),
            Self::F32(bits) => ConstExpr::f32_const(wasm_encoder::Ieee32::new(bits)),
            Self::F64(bits) => ConstExpr::f64_const(wasm_encoder::Ieee64::new(bits)),
        }
    }
}

/// Evaluates a constant expression; `None` if the expression is not numeric. `global` returns the value of a global.
pub fn evaluate(expression: &Expression<'_>, global: impl Fn(u32) -> Option<Value>) -> Result<Option<Value>> {
    let mut stack = Vec::new();
    for operator in expression.get_operators_reader() {
        let value = match operator? {
            Operator::I32Const { value } => Some(Value::I32(value)),
            Operator::I64Const { value } => Some(Value::I64(value)),
            Operator::F32Const { value } => Some(Value::F32(value.bits())),
            Operator::F64Const { value } => Some(Value::F64(value.bits())),
            Operator::GlobalGet { global_index } => global(global_index),
            Operator::I32Add => sum(stack.pop(), stack.pop()),
            Operator::End => break,
            _ => None,
        };
        let Some(value) = value else { return Ok(None) };
        stack.push(value);
    }
    Ok(stack.pop())
}

fn sum(left: Option<Value>, right: Option<Value>) -> Option<Value> {
    let (Some(Value::I32(left)), Some(Value::I32(right))) = (left, right) else { return None };
    Some(Value::I32(left.wrapping_add(right)))
}
