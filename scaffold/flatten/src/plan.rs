//! Indices in the merged module.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anyhow::{Context, Result};
use wasmparser::{FuncType, Import, TypeRef};

use crate::component::Component;
use crate::constant::{Value, evaluate};
use crate::module::{Kind, Module};
use crate::reach::Reach;
use crate::sources::{Definition, Source, Sources};

/// The contents of the merged module in order, and the new index of each definition.
pub struct Plan<'c, 'a> {
    pub sources: &'c Sources<'c, 'a>,
    pub modules: Vec<(usize, &'c Module<'a>)>,
    pub types: Vec<&'c FuncType>,
    type_indices: HashMap<&'c FuncType, u32>,
    pub hosts: &'c [(usize, Import<'a>)],
    /// The kept definitions of each kind, in the order of their new indices.
    pub kept: [Vec<Definition>; 4],
    pub exports: Vec<(&'a str, Definition)>,
    constants: HashMap<Definition, Value>,
    indices: [HashMap<Definition, u32>; 4],
}

impl<'c, 'a> Plan<'c, 'a> {
    pub fn make(component: &Component<'a>, sources: &'c Sources<'c, 'a>, reach: &'c Reach<'a>) -> Result<Self> {
        let modules = sources.merged();
        let (types, type_indices) = distinct(&modules)?;
        let mut plan = Self {
            sources,
            modules,
            types,
            type_indices,
            hosts: &reach.hosts,
            kept: Default::default(),
            exports: exports(component, sources)?,
            constants: HashMap::new(),
            indices: Default::default(),
        };
        plan.constants = plan.constants(reach)?;
        let globals = reach.globals.iter().filter(|global| !plan.constants.contains_key(global)).copied().collect();
        let functions = reach.functions.iter().copied().collect();
        plan.kept = [functions, plan.all(Kind::Table), plan.all(Kind::Memory), globals];
        plan.indices = Kind::ALL.map(|kind| plan.numbered(kind));
        Ok(plan)
    }

    pub fn module(&self, instance: usize) -> Result<&'c Module<'a>> {
        let found = self.modules.iter().find(|(index, _)| *index == instance);
        found.map(|(_, module)| *module).context("a module that is left out")
    }

    /// Returns the new index of an entry of an instance's index space.
    pub fn index(&self, instance: usize, kind: Kind, index: u32) -> Result<u32> {
        match self.sources.get(instance, kind, index)? {
            Source::Own(definition) => self.of(kind, definition),
            Source::Host { import, .. } => {
                let same = |(_, host): &(usize, Import<'_>)| (host.module, host.name) == (import.module, import.name);
                let place = self.hosts.iter().position(same).context("a function of the host that nobody calls")?;
                Ok(u32::try_from(place)?)
            }
        }
    }

    /// Returns the new index of a definition.
    pub fn of(&self, kind: Kind, definition: Definition) -> Result<u32> {
        let found = self.indices[kind as usize].get(&definition).copied();
        found.with_context(|| format!("{kind:?} {definition:?} is left out"))
    }

    pub fn type_index(&self, instance: usize, index: u32) -> Result<u32> {
        let kind = self.module(instance)?.types.get(index as usize).context("a type that is not there")?;
        self.type_indices.get(kind).copied().context("a type without a place")
    }

    /// Returns the new type index of a host function.
    pub fn host_type(&self, instance: usize, import: &Import<'_>) -> Result<u32> {
        match import.ty {
            TypeRef::Func(index) => self.type_index(instance, index),
            _ => anyhow::bail!("{} is not a function", import.name),
        }
    }

    /// Returns the value of a global that is never written.
    pub fn constant(&self, instance: usize, global: u32) -> Result<Option<Value>> {
        match self.sources.get(instance, Kind::Global, global)? {
            Source::Own(definition) => Ok(self.constants.get(&definition).copied()),
            Source::Host { .. } => Ok(None),
        }
    }

    /// Returns all globals with a constant value that are never written. Initial values refer to earlier globals only.
    fn constants(&self, reach: &Reach<'a>) -> Result<HashMap<Definition, Value>> {
        let mut known = HashMap::new();
        for (instance, module) in &self.modules {
            for (index, global) in module.globals.iter().enumerate() {
                let value =
                    evaluate(&global.init_expr, |index| match self.sources.get(*instance, Kind::Global, index) {
                        Ok(Source::Own(definition)) => known.get(&definition).copied(),
                        _ => None,
                    })?;
                let definition = Definition { instance: *instance, index };
                if let Some(value) = value.filter(|_| !reach.written.contains(&definition)) {
                    known.insert(definition, value);
                }
            }
        }
        Ok(known)
    }

    fn all(&self, kind: Kind) -> Vec<Definition> {
        let modules = self.modules.iter();
        let all = modules.flat_map(|(instance, module)| {
            (0..module.defined(kind)).map(|index| Definition { instance: *instance, index })
        });
        all.collect()
    }

    fn numbered(&self, kind: Kind) -> HashMap<Definition, u32> {
        let first = if kind == Kind::Function { self.hosts.len() } else { 0 };
        let indices = (first..).filter_map(|index| u32::try_from(index).ok());
        self.kept[kind as usize].iter().copied().zip(indices).collect()
    }
}

/// The function types of all modules without duplicates, and the index of each.
fn distinct<'c>(modules: &[(usize, &'c Module<'_>)]) -> Result<(Vec<&'c FuncType>, HashMap<&'c FuncType, u32>)> {
    let (mut types, mut indices) = (Vec::new(), HashMap::new());
    for kind in modules.iter().flat_map(|(_, module)| &module.types) {
        if let Entry::Vacant(entry) = indices.entry(kind) {
            entry.insert(u32::try_from(types.len())?);
            types.push(kind);
        }
    }
    Ok((types, indices))
}

/// The core functions behind the component's exports, under the names of their core exports.
fn exports<'a>(component: &Component<'a>, sources: &Sources<'_, 'a>) -> Result<Vec<(&'a str, Definition)>> {
    let mut exports: Vec<(&str, Definition)> = Vec::new();
    for lift in &component.lifts {
        for alias in [Some(lift.function), lift.realloc, lift.post_return].into_iter().flatten() {
            if !exports.iter().any(|(name, _)| *name == alias.name) {
                exports.push((alias.name, sources.function(alias)?));
            }
        }
    }
    Ok(exports)
}
