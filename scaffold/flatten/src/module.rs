//! Parses a core module into its sections.

use std::collections::HashMap;

use anyhow::{Result, bail};
use wasmparser::{
    Data, Element, ExternalKind, FuncType, FunctionBody, Global, Import, MemoryType, Parser, Payload, Table, TypeRef,
};

/// The index spaces whose entries modules import and export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Function,
    Table,
    Memory,
    Global,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Function, Self::Table, Self::Memory, Self::Global];

    pub fn of(kind: ExternalKind) -> Result<Self> {
        Ok(match kind {
            ExternalKind::Func | ExternalKind::FuncExact => Self::Function,
            ExternalKind::Table => Self::Table,
            ExternalKind::Memory => Self::Memory,
            ExternalKind::Global => Self::Global,
            ExternalKind::Tag => bail!("exceptions are not supported"),
        })
    }

    fn imported(kind: TypeRef) -> Result<Self> {
        Ok(match kind {
            TypeRef::Func(_) | TypeRef::FuncExact(_) => Self::Function,
            TypeRef::Table(_) => Self::Table,
            TypeRef::Memory(_) => Self::Memory,
            TypeRef::Global(_) => Self::Global,
            TypeRef::Tag(_) => bail!("exceptions are not supported"),
        })
    }
}

/// The sections of a core module that merging needs. Custom sections are dropped.
#[derive(Default)]
pub struct Module<'a> {
    pub types: Vec<FuncType>,
    /// Imports of each kind, in order. They precede the definitions in the index space of their kind.
    pub imports: [Vec<Import<'a>>; 4],
    /// Type index of each function that the module defines.
    pub functions: Vec<u32>,
    pub tables: Vec<Table<'a>>,
    pub memories: Vec<MemoryType>,
    pub globals: Vec<Global<'a>>,
    pub exports: HashMap<&'a str, (Kind, u32)>,
    pub elements: Vec<Element<'a>>,
    pub bodies: Vec<FunctionBody<'a>>,
    pub data: Vec<Data<'a>>,
}

impl<'a> Module<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            module.take(payload?)?;
        }
        Ok(module)
    }

    pub fn imports(&self, kind: Kind) -> &[Import<'a>] {
        &self.imports[kind as usize]
    }

    /// Number of definitions of a kind, without imports.
    pub fn defined(&self, kind: Kind) -> usize {
        match kind {
            Kind::Function => self.functions.len(),
            Kind::Table => self.tables.len(),
            Kind::Memory => self.memories.len(),
            Kind::Global => self.globals.len(),
        }
    }

    fn take(&mut self, payload: Payload<'a>) -> Result<()> {
        match payload {
            Payload::TypeSection(section) => {
                self.types = section.into_iter_err_on_gc_types().collect::<Result<_, _>>()?
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    self.imports[Kind::imported(import.ty)? as usize].push(import);
                }
            }
            Payload::FunctionSection(section) => self.functions = section.into_iter().collect::<Result<_, _>>()?,
            Payload::TableSection(section) => self.tables = section.into_iter().collect::<Result<_, _>>()?,
            Payload::MemorySection(section) => self.memories = section.into_iter().collect::<Result<_, _>>()?,
            Payload::GlobalSection(section) => self.globals = section.into_iter().collect::<Result<_, _>>()?,
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    self.exports.insert(export.name, (Kind::of(export.kind)?, export.index));
                }
            }
            Payload::ElementSection(section) => self.elements = section.into_iter().collect::<Result<_, _>>()?,
            Payload::DataSection(section) => self.data = section.into_iter().collect::<Result<_, _>>()?,
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::StartSection { .. } => bail!("a module still has a start function"),
            Payload::TagSection(_) => bail!("exceptions are not supported"),
            _ => {}
        }
        Ok(())
    }
}
