//! Finds the functions and globals that exports and table entries reach. All others are removed.

use std::collections::{BTreeSet, HashSet};

use anyhow::{Context, Result, bail};
use wasmparser::{ElementItems, Import, Operator};

use crate::component::Component;
use crate::module::{Kind, Module};
use crate::sources::{Definition, Source, Sources};

/// The reachable functions and globals, and the host functions that they call.
#[derive(Default)]
pub struct Reach<'a> {
    pub functions: BTreeSet<Definition>,
    pub globals: BTreeSet<Definition>,
    /// Globals that a reachable function writes.
    pub written: HashSet<Definition>,
    /// Host functions in the order in which they were found, each with the instance that imports it.
    pub hosts: Vec<(usize, Import<'a>)>,
    pending: Vec<Definition>,
}

impl<'a> Reach<'a> {
    pub fn walk(component: &Component<'a>, sources: &Sources<'_, 'a>) -> Result<Self> {
        let mut reach = Self::default();
        for lift in &component.lifts {
            for alias in [Some(lift.function), lift.realloc, lift.post_return].into_iter().flatten() {
                reach.function(Source::Own(sources.function(alias)?));
            }
        }
        for (instance, module) in sources.merged() {
            reach.elements(sources, instance, module)?;
        }
        let modules = sources.merged();
        while let Some(function) = reach.pending.pop() {
            let found = modules.iter().find(|(instance, _)| *instance == function.instance);
            let (_, module) = found.context("a function of a module that is left out")?;
            reach.body(sources, module, function)?;
        }
        Ok(reach)
    }

    fn function(&mut self, source: Source<'a>) {
        match source {
            Source::Own(definition) => {
                if self.functions.insert(definition) {
                    self.pending.push(definition);
                }
            }
            Source::Host { instance, import } => {
                let same = |known: &Import<'_>| (known.module, known.name) == (import.module, import.name);
                if !self.hosts.iter().any(|(_, known)| same(known)) {
                    self.hosts.push((instance, import));
                }
            }
        }
    }

    fn elements(&mut self, sources: &Sources<'_, 'a>, instance: usize, module: &Module<'a>) -> Result<()> {
        for element in &module.elements {
            let ElementItems::Functions(functions) = &element.items else {
                bail!("table entries that are expressions are not supported");
            };
            for function in functions.clone() {
                self.function(sources.get(instance, Kind::Function, function?)?);
            }
        }
        Ok(())
    }

    fn body(&mut self, sources: &Sources<'_, 'a>, module: &Module<'a>, function: Definition) -> Result<()> {
        let body = module.bodies.get(function.index).context("a function without a body")?;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            self.operator(sources, function.instance, &operators.read()?)?;
        }
        Ok(())
    }

    fn operator(&mut self, sources: &Sources<'_, 'a>, instance: usize, operator: &Operator<'_>) -> Result<()> {
        match operator {
            Operator::Call { function_index }
            | Operator::ReturnCall { function_index }
            | Operator::RefFunc { function_index } => {
                self.function(sources.get(instance, Kind::Function, *function_index)?);
            }
            Operator::GlobalGet { global_index } => {
                self.globals.extend(own(sources, instance, *global_index)?);
            }
            Operator::GlobalSet { global_index } => {
                let global = own(sources, instance, *global_index)?;
                self.globals.extend(global);
                self.written.extend(global);
            }
            _ => {}
        }
        Ok(())
    }
}

fn own(sources: &Sources<'_, '_>, instance: usize, global: u32) -> Result<Option<Definition>> {
    match sources.get(instance, Kind::Global, global)? {
        Source::Own(definition) => Ok(Some(definition)),
        Source::Host { .. } => Ok(None),
    }
}
