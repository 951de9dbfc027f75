//! Writes the merged module.

use anyhow::{Context, Result, bail};
use wasm_encoder::reencode::Reencode;
use wasm_encoder::{
    CodeSection, DataCountSection, DataSection, ElementSection, Elements, EntityType, ExportKind, ExportSection,
    FunctionSection, GlobalSection, ImportSection, MemorySection, Module, TableSection, TypeSection,
};
use wasmparser::{DataKind, ElementItems, ElementKind, TableInit};

use crate::module::Kind;
use crate::plan::Plan;
use crate::renumber::Renumber;

/// The export name of the memory, which the component model requires.
const MEMORY: &str = "memory";

/// Encodes the module that `plan` describes.
pub fn merge(plan: &Plan<'_, '_>) -> Result<Vec<u8>> {
    let mut module = Module::new();
    let writer = Writer { plan };
    module.section(&writer.types()?).section(&writer.imports()?).section(&writer.functions()?);
    module.section(&writer.tables()?).section(&writer.memories()?).section(&writer.globals()?);
    module.section(&writer.exports()?).section(&writer.elements()?);
    let data = writer.data()?;
    module.section(&DataCountSection { count: data.len() }).section(&writer.code()?).section(&data);
    Ok(module.finish())
}

struct Writer<'p, 'c, 'a> {
    plan: &'p Plan<'c, 'a>,
}

impl<'p, 'c, 'a> Writer<'p, 'c, 'a> {
    fn renumber(&self, instance: usize) -> Result<Renumber<'p, 'c, 'a>> {
        let before = self.plan.modules.iter().take_while(|(index, _)| *index != instance);
        let (elements, data) = before
            .fold((0, 0), |(elements, data), (_, module)| (elements + module.elements.len(), data + module.data.len()));
        let (elements, data) = (u32::try_from(elements)?, u32::try_from(data)?);
        Ok(Renumber { plan: self.plan, instance, elements, data })
    }

    fn types(&self) -> Result<TypeSection> {
        let mut section = TypeSection::new();
        for kind in &self.plan.types {
            section.ty().func_type(&wasm_encoder::FuncType::try_from((*kind).clone())?);
        }
        Ok(section)
    }

    fn imports(&self) -> Result<ImportSection> {
        let mut section = ImportSection::new();
        for (instance, import) in self.plan.hosts {
            let kind = self.plan.host_type(*instance, import)?;
            section.import(import.module, import.name, EntityType::Function(kind));
        }
        Ok(section)
    }

    fn functions(&self) -> Result<FunctionSection> {
        let mut section = FunctionSection::new();
        for function in &self.plan.kept[Kind::Function as usize] {
            let module = self.plan.module(function.instance)?;
            let kind = module.functions.get(function.index).context("a function without a type")?;
            section.function(self.plan.type_index(function.instance, *kind)?);
        }
        Ok(section)
    }

    fn tables(&self) -> Result<TableSection> {
        let mut section = TableSection::new();
        for table in &self.plan.kept[Kind::Table as usize] {
            let found = &self.plan.module(table.instance)?.tables[table.index];
            if !matches!(found.init, TableInit::RefNull) {
                bail!("a table with an initial value is not supported");
            }
            section.table(self.renumber(table.instance)?.table_type(found.ty)?);
        }
        Ok(section)
    }

    fn memories(&self) -> Result<MemorySection> {
        let mut section = MemorySection::new();
        for memory in &self.plan.kept[Kind::Memory as usize] {
            let found = self.plan.module(memory.instance)?.memories[memory.index];
            section.memory(self.renumber(memory.instance)?.memory_type(found)?);
        }
        Ok(section)
    }

    fn globals(&self) -> Result<GlobalSection> {
        let mut section = GlobalSection::new();
        for global in &self.plan.kept[Kind::Global as usize] {
            let found = self.plan.module(global.instance)?.globals[global.index].clone();
            self.renumber(global.instance)?.parse_global(&mut section, found)?;
        }
        Ok(section)
    }

    fn exports(&self) -> Result<ExportSection> {
        let mut section = ExportSection::new();
        for (name, function) in &self.plan.exports {
            section.export(name, ExportKind::Func, self.plan.of(Kind::Function, *function)?);
        }
        section.export(MEMORY, ExportKind::Memory, 0);
        Ok(section)
    }

    fn elements(&self) -> Result<ElementSection> {
        let mut section = ElementSection::new();
        for (instance, module) in &self.plan.modules {
            let mut renumber = self.renumber(*instance)?;
            for element in &module.elements {
                let ElementItems::Functions(functions) = &element.items else {
                    bail!("table entries that are expressions are not supported");
                };
                let functions =
                    functions.clone().into_iter().map(|function| self.plan.index(*instance, Kind::Function, function?));
                let functions = Elements::Functions(functions.collect::<Result<Vec<_>>>()?.into());
                match &element.kind {
                    ElementKind::Active { table_index, offset_expr } => {
                        let table = renumber.table_index(table_index.unwrap_or(0))?;
                        section.active(
                            Some(table).filter(|table| *table != 0),
                            &renumber.offset(offset_expr)?,
                            functions,
                        )
                    }
                    ElementKind::Passive => section.passive(functions),
                    ElementKind::Declared => section.declared(functions),
                };
            }
        }
        Ok(section)
    }

    fn code(&self) -> Result<CodeSection> {
        let mut section = CodeSection::new();
        for function in &self.plan.kept[Kind::Function as usize] {
            let module = self.plan.module(function.instance)?;
            let body = module.bodies.get(function.index).context("a function without a body")?;
            self.renumber(function.instance)?.parse_function_body(&mut section, body.clone())?;
        }
        Ok(section)
    }

    fn data(&self) -> Result<DataSection> {
        let mut section = DataSection::new();
        for (instance, module) in &self.plan.modules {
            let mut renumber = self.renumber(*instance)?;
            for data in &module.data {
                let bytes = data.data.iter().copied();
                match &data.kind {
                    DataKind::Passive => section.passive(bytes),
                    DataKind::Active { memory_index, offset_expr } => {
                        let memory = renumber.memory_index(*memory_index)?;
                        section.active(memory, &renumber.offset(offset_expr)?, bytes)
                    }
                };
            }
        }
        Ok(section)
    }
}
