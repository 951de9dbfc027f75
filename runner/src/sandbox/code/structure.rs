//! Bounds on the structure of a component, checked before it is compiled.
//!
//! A few kilobytes can keep a compiler busy for minutes: deep loops, many locals, long branch tables. Each of these has a bound
//! here, well above what compilers make of ordinary sources. One pass over the bytes checks them all.

use wasmparser::{
    BinaryReaderError, ComponentInstance, FunctionBody, Instance, Operator, Parser, Payload, SectionLimited,
};

/// Prefixes of the imports that components may have. The file system is empty; the runtimes of some languages import it when
/// they start.
const GRANTED: [&str; 6] = ["lathe:tool/", "wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/"];
/// Prefix of the imports that interpreters may have besides: they import sockets when they start. The host refuses every use.
const GRANTED_TO_INTERPRETERS: &str = "wasi:sockets/";
/// Import that distinguishes an interpreter from a tool.
const INTERPRETER_IMPORT: &str = "lathe:tool/bundle";

/// Modules and components at any depth. Linking a language's runtime takes about twenty.
const MODULES_MAX: u32 = 64;
/// Levels of components within components. The component model's own adapters take two.
const NESTING_MAX: u32 = 8;
/// Instances; the engine's pool has capacity for as many.
const INSTANTIATIONS_MAX: u32 = 64;
/// Entries of all other sections of a component: types, aliases, lifted and lowered functions.
const COMPONENT_ENTRIES_MAX: u32 = 20_000;
/// Functions of a component. The Python image has about 12,000.
const FUNCTIONS_MAX: u32 = 30_000;
/// Size of a function. The longest of the Python image, the interpreter's loop, has about 160 KiB.
const BODY_BYTES_MAX: usize = 256 << 10;
const LOCALS_MAX: u32 = 2_000;
/// Nested loops. The work of the register allocator grows at least with the square of the depth.
const LOOP_DEPTH_MAX: usize = 64;
const BLOCK_DEPTH_MAX: usize = 2_000;
const BRANCH_TARGETS_MAX: u32 = 16_000;
/// Data segments. The Python image has about 34,000, since they hold a whole memory; each costs little.
const DATA_SEGMENTS_MAX: u32 = 100_000;
const ELEMENT_SEGMENTS_MAX: u32 = 5_000;
const TYPES_MAX: u32 = 10_000;
const GLOBALS_MAX: u32 = 10_000;
const IMPORTS_MAX: u32 = 5_000;
const EXPORTS_MAX: u32 = 10_000;
const TABLES_MAX: u32 = 64;

/// Reason for which a component is not compiled.
#[derive(Debug, thiserror::Error)]
pub enum StructureError {
    #[error("the component has {found} {what}; {max} are the limit")]
    TooMuch { what: &'static str, found: u64, max: u64 },
    #[error("the component imports what the platform does not grant: {}", names.join(", "))]
    Imports { names: Vec<String> },
    #[error(transparent)]
    Malformed(#[from] BinaryReaderError),
}

/// Checks a component's imports, and every size that costs a compiler time. Returns the names of the imports. The compiler
/// checks whether the component is valid.
///
/// # Errors
/// The first bound that is exceeded, all imports that are not granted, or malformed WebAssembly.
pub fn check(component: &[u8]) -> Result<Vec<String>, StructureError> {
    let mut found = Counts::default();
    for payload in Parser::new(0).parse_all(component) {
        found.add(&payload?)?;
    }
    found.check_imports()?;
    Ok(found.imported)
}

/// Counts over the whole component, nested ones included.
#[derive(Default)]
struct Counts {
    depth: u32,
    modules: u32,
    instantiations: u32,
    entries: u32,
    functions: u32,
    data_segments: u32,
    element_segments: u32,
    types: u32,
    globals: u32,
    imports: u32,
    exports: u32,
    tables: u32,
    /// Imports of the outermost component.
    imported: Vec<String>,
}

impl Counts {
    fn add(&mut self, payload: &Payload<'_>) -> Result<(), StructureError> {
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                self.depth += 1;
                require_at_most("levels of nesting", self.depth, NESTING_MAX)?;
                count(&mut self.modules, 1, "modules and components", MODULES_MAX)
            }
            Payload::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                Ok(())
            }
            Payload::CodeSectionEntry(body) => {
                count(&mut self.functions, 1, "functions", FUNCTIONS_MAX)?;
                check_body(body)
            }
            Payload::DataSection(section) => {
                count(&mut self.data_segments, section.count(), "data segments", DATA_SEGMENTS_MAX)
            }
            Payload::ElementSection(section) => {
                count(&mut self.element_segments, section.count(), "element segments", ELEMENT_SEGMENTS_MAX)
            }
            Payload::TypeSection(section) => count(&mut self.types, section.count(), "types", TYPES_MAX),
            Payload::GlobalSection(section) => count(&mut self.globals, section.count(), "globals", GLOBALS_MAX),
            Payload::ImportSection(section) => count(&mut self.imports, section.count(), "imports", IMPORTS_MAX),
            Payload::ExportSection(section) => count(&mut self.exports, section.count(), "exports", EXPORTS_MAX),
            Payload::TableSection(section) => count(&mut self.tables, section.count(), "tables", TABLES_MAX),
            other => self.add_of_component(other),
        }
    }

    fn add_of_component(&mut self, payload: &Payload<'_>) -> Result<(), StructureError> {
        match payload {
            Payload::InstanceSection(section) => {
                self.instantiate(section, |instance| matches!(instance, Instance::Instantiate { .. }))
            }
            Payload::ComponentInstanceSection(section) => {
                self.instantiate(section, |instance| matches!(instance, ComponentInstance::Instantiate { .. }))
            }
            Payload::ComponentImportSection(section) => {
                self.enter(section.count())?;
                for import in section.clone().into_iter().filter(|_| self.depth == 0) {
                    self.imported.push(import?.name.name.to_owned());
                }
                Ok(())
            }
            Payload::CoreTypeSection(section) => self.enter(section.count()),
            Payload::ComponentTypeSection(section) => self.enter(section.count()),
            Payload::ComponentAliasSection(section) => self.enter(section.count()),
            Payload::ComponentCanonicalSection(section) => self.enter(section.count()),
            Payload::ComponentExportSection(section) => self.enter(section.count()),
            _ => Ok(()),
        }
    }

    fn instantiate<'a, T: wasmparser::FromReader<'a>>(
        &mut self,
        section: &SectionLimited<'a, T>,
        is_made: impl Fn(&T) -> bool,
    ) -> Result<(), StructureError> {
        self.enter(section.count())?;
        for instance in section.clone() {
            let made = u32::from(is_made(&instance?));
            count(&mut self.instantiations, made, "instances", INSTANTIATIONS_MAX)?;
        }
        Ok(())
    }

    fn enter(&mut self, entries: u32) -> Result<(), StructureError> {
        count(&mut self.entries, entries, "types, aliases and functions", COMPONENT_ENTRIES_MAX)
    }

    fn check_imports(&self) -> Result<(), StructureError> {
        let interpreter = self.imported.iter().any(|name| name.starts_with(INTERPRETER_IMPORT));
        let is_granted = |name: &str| {
            // A type used from an interface is imported under its own name.
            !name.contains(['/', ':'])
                || GRANTED.iter().any(|granted| name.starts_with(granted))
                || interpreter && name.starts_with(GRANTED_TO_INTERPRETERS)
        };
        let names: Vec<_> = self.imported.iter().filter(|name| !is_granted(name)).cloned().collect();
        if names.is_empty() { Ok(()) } else { Err(StructureError::Imports { names }) }
    }
}

fn check_body(body: &FunctionBody<'_>) -> Result<(), StructureError> {
    require_at_most("bytes in one function", body.as_bytes().len(), BODY_BYTES_MAX)?;
    let mut locals = 0;
    for group in body.get_locals_reader()? {
        count(&mut locals, group?.0, "locals in one function", LOCALS_MAX)?;
    }
    // One entry for each open block: whether it is a loop.
    let (mut open, mut loops) = (Vec::new(), 0);
    for operator in body.get_operators_reader()? {
        match operator? {
            Operator::Loop { .. } => {
                loops += 1;
                require_at_most("loops within each other", loops, LOOP_DEPTH_MAX)?;
                open.push(true);
            }
            Operator::Block { .. } | Operator::If { .. } | Operator::Try { .. } | Operator::TryTable { .. } => {
                open.push(false);
            }
            Operator::End => loops -= usize::from(open.pop() == Some(true)),
            Operator::BrTable { targets } => {
                require_at_most("targets of one branch", targets.len() as usize, BRANCH_TARGETS_MAX as usize)?;
            }
            _ => {}
        }
        require_at_most("blocks within each other", open.len(), BLOCK_DEPTH_MAX)?;
    }
    Ok(())
}

/// Adds to a sum, which the bound names and limits.
fn count(sum: &mut u32, more: u32, what: &'static str, max: u32) -> Result<(), StructureError> {
    *sum = sum.saturating_add(more);
    require_at_most(what, *sum, max)
}

fn require_at_most<T: TryInto<u64>>(what: &'static str, found: T, max: T) -> Result<(), StructureError> {
    let number = |value: T| value.try_into().unwrap_or(u64::MAX);
    let (found, max) = (number(found), number(max));
    if found > max { Err(StructureError::TooMuch { what, found, max }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(module: &str) -> Vec<u8> {
        wat::parse_str(format!("(component (core module {module}))")).unwrap()
    }

    /// Checks that a bomb is refused when it exceeds its bound by one, and accepted when it does not.
    fn check_bomb(what: &str, max: usize, bomb: impl Fn(usize) -> Vec<u8>) {
        check(&bomb(max)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let error = check(&bomb(max + 1)).expect_err(what).to_string();
        assert!(error.contains(what) && error.contains(&format!("{max} are the limit")), "{error}");
    }

    fn body(text: &str) -> Vec<u8> {
        component(&format!("(func {text})"))
    }

    #[test]
    fn bombs_are_refused_before_they_are_compiled() {
        let nested = |count: usize, open: &str| body(&format!("{}{}", open.repeat(count), " end".repeat(count)));
        check_bomb("loops within each other", LOOP_DEPTH_MAX, |count| nested(count, "loop "));
        check_bomb("blocks within each other", BLOCK_DEPTH_MAX, |count| nested(count, "block "));
        check_bomb("locals in one function", LOCALS_MAX as usize, |count| {
            body(&format!("(local {})", "i64 ".repeat(count)))
        });
        check_bomb("targets of one branch", BRANCH_TARGETS_MAX as usize, |count| {
            body(&format!("block i32.const 0 br_table {} 0 end", "0 ".repeat(count)))
        });
        check_bomb("functions", FUNCTIONS_MAX as usize, |count| component(&"(func)".repeat(count)));
        check_bomb("globals", GLOBALS_MAX as usize, |count| component(&"(global i32 i32.const 0)".repeat(count)));
        check_bomb("tables", TABLES_MAX as usize, |count| component(&"(table 1 funcref)".repeat(count)));
        check_bomb("element segments", ELEMENT_SEGMENTS_MAX as usize, |count| {
            component(&format!("(table 1 funcref) {}", "(elem (i32.const 0) func)".repeat(count)))
        });
        check_bomb("data segments", DATA_SEGMENTS_MAX as usize, |count| {
            component(&format!("(memory 1) {}", "(data (i32.const 0) \"\")".repeat(count)))
        });
        let long = "i32.const 0 drop ".repeat(BODY_BYTES_MAX / 3 + 1);
        assert!(check(&body(&long)).unwrap_err().to_string().contains("bytes in one function"));
    }

    #[test]
    fn components_larger_than_the_pool_are_refused() {
        let parse = |text: String| wat::parse_str(text).unwrap();
        check_bomb("instances", INSTANTIATIONS_MAX as usize, |count| {
            parse(format!("(component (core module $m) {})", "(core instance (instantiate $m))".repeat(count)))
        });
        check_bomb("modules and components", MODULES_MAX as usize, |count| {
            parse(format!("(component {})", "(core module)".repeat(count)))
        });
        check_bomb("levels of nesting", NESTING_MAX as usize, |count| {
            parse(format!("{}{}", "(component ".repeat(count + 1), ")".repeat(count + 1)))
        });
        check_bomb("types, aliases and functions", COMPONENT_ENTRIES_MAX as usize, |count| {
            parse(format!("(component {})", "(type string)".repeat(count)))
        });
    }

    #[test]
    fn all_imports_that_are_not_granted_are_named() {
        let importing = |names: &[&str]| {
            let imports: String = names.iter().map(|name| format!("(import \"{name}\" (instance))")).collect();
            check(&wat::parse_str(format!("(component {imports})")).unwrap())
        };
        importing(&["wasi:clocks/monotonic-clock@0.2.6", "lathe:tool/status@0.1.0"]).unwrap();
        let error = importing(&["wasi:sockets/tcp@0.2.0", "wasi:io/poll@0.2.0", "wasi:http/types@0.2.0"]).unwrap_err();
        assert!(error.to_string().ends_with("grant: wasi:sockets/tcp@0.2.0, wasi:http/types@0.2.0"), "{error}");
        importing(&["lathe:tool/bundle@0.1.0", "wasi:sockets/tcp@0.2.0"]).unwrap();
    }

    #[test]
    fn other_bytes_are_refused_and_the_image_is_not() {
        for bytes in [&b""[..], b"\0asm", b"no component at all"] {
            assert!(check(bytes).is_err(), "{bytes:?}");
        }
        check(&python_image::component().unwrap()).unwrap();
    }
}
