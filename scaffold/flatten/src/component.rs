//! Parses the core modules of a component and how they are linked.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentAlias, ExternalKind, Instance as CoreInstance, Parser, Payload,
};

use crate::module::{Kind, Module};

/// An export of a core instance.
#[derive(Clone, Copy)]
pub struct Alias<'a> {
    pub instance: usize,
    pub name: &'a str,
}

/// An entry of a core index space of the component.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    Alias(Alias<'a>),
    /// A lowered host function, or a built-in function of the component model.
    Host,
}

/// A core instance.
pub enum Instance<'a> {
    Module { module: usize, arguments: HashMap<&'a str, usize> },
    Exports(HashMap<&'a str, Item<'a>>),
}

/// The core functions behind an export of the component.
pub struct Lift<'a> {
    pub function: Alias<'a>,
    pub realloc: Option<Alias<'a>>,
    pub post_return: Option<Alias<'a>>,
}

/// The core modules of a component, their links, and the core functions that the component exports.
#[derive(Default)]
pub struct Component<'a> {
    pub modules: Vec<Module<'a>>,
    pub instances: Vec<Instance<'a>>,
    pub lifts: Vec<Lift<'a>>,
    items: [Vec<Item<'a>>; 4],
}

impl<'a> Component<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut component = Self::default();
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::End(_) => depth -= 1,
                Payload::Version { .. } => depth += 1,
                Payload::ModuleSection { unchecked_range, .. } => {
                    ensure!(depth == 1, "a component inside the component has a module of its own");
                    component.modules.push(Module::parse(&bytes[unchecked_range])?);
                }
                payload if depth == 1 => component.take(payload)?,
                _ => {}
            }
        }
        Ok(component)
    }

    fn take(&mut self, payload: Payload<'a>) -> Result<()> {
        match payload {
            Payload::InstanceSection(section) => {
                for instance in section {
                    let instance = self.instance(instance?)?;
                    self.instances.push(instance);
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    if let ComponentAlias::CoreInstanceExport { kind, instance_index, name } = alias? {
                        let alias = Alias { instance: instance_index as usize, name };
                        self.items[Kind::of(kind)? as usize].push(Item::Alias(alias));
                    }
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    self.canonical(function?)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn instance(&self, instance: CoreInstance<'a>) -> Result<Instance<'a>> {
        match instance {
            CoreInstance::Instantiate { module_index, args } => {
                let arguments = args.iter().map(|argument| (argument.name, argument.index as usize)).collect();
                Ok(Instance::Module { module: module_index as usize, arguments })
            }
            CoreInstance::FromExports(exports) => {
                let exports = exports.iter().map(|export| Ok((export.name, self.item(export.kind, export.index)?)));
                Ok(Instance::Exports(exports.collect::<Result<_>>()?))
            }
        }
    }

    fn canonical(&mut self, function: CanonicalFunction) -> Result<()> {
        let CanonicalFunction::Lift { core_func_index, options, .. } = function else {
            self.items[Kind::Function as usize].push(Item::Host);
            return Ok(());
        };
        let mut lift = Lift { function: self.alias(core_func_index)?, realloc: None, post_return: None };
        for option in options {
            match option {
                CanonicalOption::Realloc(index) => lift.realloc = Some(self.alias(index)?),
                CanonicalOption::PostReturn(index) => lift.post_return = Some(self.alias(index)?),
                CanonicalOption::UTF8 | CanonicalOption::Memory(_) => {}
                other => bail!("an export is lifted with {other:?}, which is not supported"),
            }
        }
        self.lifts.push(lift);
        Ok(())
    }

    fn alias(&self, function: u32) -> Result<Alias<'a>> {
        match self.item(ExternalKind::Func, function)? {
            Item::Alias(alias) => Ok(alias),
            Item::Host => bail!("the component exports a function of the host"),
        }
    }

    fn item(&self, kind: ExternalKind, index: u32) -> Result<Item<'a>> {
        let items = &self.items[Kind::of(kind)? as usize];
        items.get(index as usize).copied().with_context(|| format!("no core {kind:?} {index}"))
    }
}
