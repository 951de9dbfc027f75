//! Resolves the imports of the core modules: for each entry of an index space, the definition behind it.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use wasmparser::Import;

use crate::component::{Alias, Component, Instance, Item};
use crate::module::{Kind, Module};

/// Export name of the trampolines' table. Lowering a host function needs the memory of the module that imports it, so that
/// module imports trampolines instead. Another module, the filler, fills their table once the memory exists.
const TRAMPOLINES: &str = "$imports";
/// Name of the filler's argument that has the target functions, if functions and table are separate arguments.
const TARGETS: &str = "actual";
/// Name of the filler's argument that has the table, if functions and table are separate arguments.
const SHIM: &str = "shim";

/// A definition of an instance, by its index among the instance's definitions of that kind, imports not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition {
    pub instance: usize,
    pub index: usize,
}

/// The origin of an entry of an index space.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    Own(Definition),
    /// A host function, with the import of `instance`.
    Host {
        instance: usize,
        import: Import<'a>,
    },
}

/// The sources of all entries, by instance and kind.
pub struct Sources<'c, 'a> {
    component: &'c Component<'a>,
    trampolines: Option<Trampolines<'c, 'a>>,
    spaces: HashMap<usize, [Vec<Source<'a>>; 4]>,
}

/// The trampolines of a component.
struct Trampolines<'c, 'a> {
    /// Instance whose functions call through the table.
    instance: usize,
    /// Instance that fills the table.
    filler: usize,
    /// Functions that the trampolines call, by name.
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

    /// The instances to merge, in the order of their instantiation.
    pub fn merged(&self) -> Vec<(usize, &'c Module<'a>)> {
        let left_out = self.trampolines.as_ref().map(|found| [found.instance, found.filler]).unwrap_or([usize::MAX; 2]);
        let instances = self.component.instances.iter().enumerate();
        let modules = instances.filter_map(|(index, instance)| match instance {
            Instance::Module { module, .. } => Some((index, self.component.modules.get(*module)?)),
            Instance::Exports(_) => None,
        });
        modules.filter(|(index, _)| !left_out.contains(index)).collect()
    }

    /// Returns the source of an entry of an instance's index space.
    pub fn get(&self, instance: usize, kind: Kind, index: u32) -> Result<Source<'a>> {
        let space = self.spaces.get(&instance).map(|spaces| &spaces[kind as usize]);
        let source = space.and_then(|space| space.get(index as usize)).copied();
        source.with_context(|| format!("instance {instance} has no {kind:?} {index}"))
    }

    /// Returns the function that an instance exports under a name.
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

/// Finds the trampolines of a component. Linkers pass table and functions to the filler as one instance or as two.
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
