//! Rewrites the code of an instance with the indices of the merged module.

use std::fmt;

use anyhow::Result;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{ConstExpr, Instruction};
use wasmparser::Operator;

use crate::constant::evaluate;
use crate::module::Kind;
use crate::plan::Plan;

/// A reference to something that is not in the merged module.
#[derive(Debug)]
pub struct Misplaced(anyhow::Error);

impl fmt::Display for Misplaced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for Misplaced {}

fn misplaced(error: anyhow::Error) -> Error<Misplaced> {
    Error::UserError(Misplaced(error))
}

/// Rewrites the sections of `instance`.
pub struct Renumber<'p, 'c, 'a> {
    pub plan: &'p Plan<'c, 'a>,
    pub instance: usize,
    /// Index of the instance's first element segment in the merged module.
    pub elements: u32,
    /// Index of the instance's first data segment in the merged module.
    pub data: u32,
}

impl Renumber<'_, '_, '_> {
    /// Evaluates the offset of a segment to a constant.
    pub fn offset(&self, expression: &wasmparser::ConstExpr<'_>) -> Result<ConstExpr> {
        let value = evaluate(expression, |global| self.plan.constant(self.instance, global).ok().flatten())?;
        let value = value.ok_or_else(|| anyhow::anyhow!("a segment without a fixed place"))?;
        Ok(value.expression())
    }

    fn index(&self, kind: Kind, index: u32) -> Result<u32, Error<Misplaced>> {
        self.plan.index(self.instance, kind, index).map_err(misplaced)
    }
}

impl Reencode for Renumber<'_, '_, '_> {
    type Error = Misplaced;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Self::Error>> {
        self.index(Kind::Function, function)
    }

    fn table_index(&mut self, table: u32) -> Result<u32, Error<Self::Error>> {
        self.index(Kind::Table, table)
    }

    fn memory_index(&mut self, memory: u32) -> Result<u32, Error<Self::Error>> {
        self.index(Kind::Memory, memory)
    }

    fn global_index(&mut self, global: u32) -> Result<u32, Error<Self::Error>> {
        self.index(Kind::Global, global)
    }

    fn type_index(&mut self, index: u32) -> Result<u32, Error<Self::Error>> {
        self.plan.type_index(self.instance, index).map_err(misplaced)
    }

    fn element_index(&mut self, element: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.elements + element)
    }

    fn data_index(&mut self, data: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.data + data)
    }

    fn instruction<'o>(&mut self, operator: Operator<'o>) -> Result<Instruction<'o>, Error<Self::Error>> {
        if let Operator::GlobalGet { global_index } = operator {
            let constant = self.plan.constant(self.instance, global_index).map_err(misplaced)?;
            if let Some(value) = constant {
                return Ok(value.instruction());
            }
        }
        utils::instruction(self, operator)
    }
}
