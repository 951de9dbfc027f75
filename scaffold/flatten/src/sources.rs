//! Where each entry of each core module's index spaces comes from, once imports are followed to their end.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use wasmparser::Import;

use crate::component::{Alias, Component, Instance, Item};
use crate::module::{Kind, Module};

/// The export by which a component's own trampolines are recognised: a table of functions that another module fills
/// as soon as the memory exists that their lowering needs.
const TRAMPOLINES: &str = "$imports";
/// What a filler calls its arguments when the functions and the table come apart.
const TARGETS: &str = "actual";
const SHIM: &str = "shim";

/// Something that an instance brings itself, by its place among what the instance brings of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition {
    pub instance: usize,
    pub index: usize,
}

/// Where an entry comes from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    Own(Definition),
    /// A function of the host, as `instance` imports it.
    Host {
        instance: usize,
        import: Import<'a>,
    },
}

/// The sources of all entries.
pub struct Sources<'c, 'a> {
    component: &'c Component<'a>,
    trampolines: Option<Trampolines<'c, 'a>>,
    spaces: HashMap<usize, [Vec<Source<'a>>; 4]>,
}

/// The instance whose functions jump through a table, what they end at, and the instance that fills the table.
struct Trampolines<'c, 'a> {
    instance: usize,
    filler: usize,
    targets: &'c HashMap<&'a str, Item<'a>>,
}

impl<'c, 'a> Sources<'c, 'a> {
    pub fn resolve(component: &'c Component<'a>) -> Result<Self> {
        let mut sources = Self { component, trampolines: trampolines(component), spaces: HashMap::new() };
        for (instance, module) in sources.merged() {
            let spaces = Kind::ALL.map(|kind| sources.space(instance, module, kind));
            let [functions, tables, memories, globals] = spaces;
            sources.spaces.insert(instance, [functions?, tables?, memories?, globals?]);
        }
        Ok(sources)
    }

    /// The instances that become part of the one module, in the order of their instantiation.
    pub fn merged(&self) -> Vec<(usize, &'c Module<'a>)> {
        let left_out = self.trampolines.as_ref().map(|found| [found.instance, found.filler]).unwrap_or([usize::MAX; 2]);
        let instances = self.component.instances.iter().enumerate();
        let modules = instances.filter_map(|(index, instance)| match instance {
            Instance::Module { module, .. } => Some((index, self.component.modules.get(*module)?)),
            Instance::Exports(_) => None,
        });
        modules.filter(|(index, _)| !left_out.contains(index)).collect()
    }

    /// The source of an entry of an instance's index space.
    pub fn get(&self, instance: usize, kind: Kind, index: u32) -> Result<Source<'a>> {
        let space = self.spaces.get(&instance).map(|spaces| &spaces[kind as usize]);
        let source = space.and_then(|space| space.get(index as usize)).copied();
        source.with_context(|| format!("instance {instance} has no {kind:?} {index}"))
    }

    /// The function that a name of an instance stands for.
    pub fn function(&self, alias: Alias<'a>) -> Result<Definition> {
        match self.alias(Kind::Function, alias, None)? {
            Source::Own(definition) => Ok(definition),
            Source::Host { import, .. } => anyhow::bail!("{} is a function of the host", import.name),
        }
    }

    fn space(&self, instance: usize, module: &Module<'a>, kind: Kind) -> Result<Vec<Source<'a>>> {
        let imported = module.imports(kind).iter().map(|import| self.import(instance, kind, *import));
        let own = (0..module.defined(kind)).map(|index| Ok(Source::Own(Definition { instance, index })));
        imported.chain(own).collect()
    }

    fn import(&self, instance: usize, kind: Kind, import: Import<'a>) -> Result<Source<'a>> {
        let Some(Instance::Module { arguments, .. }) = self.component.instances.get(instance) else {
            anyhow::bail!("instance {instance} imports nothing");
        };
        let from = arguments.get(import.module).with_context(|| format!("nothing is passed for {}", import.module))?;
        self.alias(kind, Alias { instance: *from, name: import.name }, Some((instance, import)))
    }

    fn alias(&self, kind: Kind, alias: Alias<'a>, importer: Option<(usize, Import<'a>)>) -> Result<Source<'a>> {
        if let Some(trampolines) = self.trampolines.as_ref().filter(|found| found.instance == alias.instance) {
            return self.item(kind, trampolines.targets.get(alias.name), importer);
        }
        match self.component.instances.get(alias.instance).context("an instance that comes later")? {
            Instance::Exports(exports) => self.item(kind, exports.get(alias.name), importer),
            Instance::Module { module, .. } => self.export(kind, alias, *module),
        }
    }

    fn item(&self, kind: Kind, item: Option<&Item<'a>>, importer: Option<(usize, Import<'a>)>) -> Result<Source<'a>> {
        match item.context("an export that is not there")? {
            Item::Alias(alias) => self.alias(kind, *alias, importer),
            Item::Host => {
                let (instance, import) = importer.context("a function of the host without a name")?;
                Ok(Source::Host { instance, import })
            }
        }
    }

    fn export(&self, kind: Kind, alias: Alias<'a>, module: usize) -> Result<Source<'a>> {
        let module = self.component.modules.get(module).context("a module that is not there")?;
        let found = module.exports.get(alias.name).with_context(|| format!("nothing exports {}", alias.name))?;
        ensure!(found.0 == kind, "{} is a {:?} and not a {kind:?}", alias.name, found.0);
        let imports = module.imports(kind);
        match imports.get(found.1 as usize) {
            Some(import) => self.import(alias.instance, kind, *import),
            None => Ok(Source::Own(Definition { instance: alias.instance, index: found.1 as usize - imports.len() })),
        }
    }
}

/// Writers of components differ in how they pass table and functions to the filler: as one instance, or as two.
fn trampolines<'c, 'a>(component: &'c Component<'a>) -> Option<Trampolines<'c, 'a>> {
    component.instances.iter().enumerate().find_map(|(filler, instance)| {
        let Instance::Module { arguments, .. } = instance else { return None };
        let targets = *arguments.get(TARGETS).or_else(|| arguments.get(""))?;
        let Instance::Exports(targets) = component.instances.get(targets)? else { return None };
        let table = match targets.get(TRAMPOLINES) {
            Some(Item::Alias(table)) => table.instance,
            _ => *arguments.get(SHIM)?,
        };
        Some(Trampolines { instance: table, filler, targets })
    })
}
