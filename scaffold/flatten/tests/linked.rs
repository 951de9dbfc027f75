//! A linked component and its flattened form answer the same, and the flattened one has nothing left to link.

use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

fn linked() -> Vec<u8> {
    wat::parse_str(include_str!("linked.wat")).unwrap()
}

fn as_it_is(_memory: &mut [u8]) -> anyhow::Result<()> {
    Ok(())
}

/// Calls `run` twice in one instance.
fn run(component: &[u8], number: u32) -> [u32; 2] {
    let engine = Engine::default();
    let component = Component::from_binary(&engine, component).unwrap();
    let mut linker = Linker::new(&engine);
    let mut host = linker.instance("lathe:test/host").unwrap();
    host.func_wrap("double", |_, (number,): (u32,)| Ok((2 * number,))).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &component).unwrap();
    let run = instance.get_typed_func::<(u32,), (u32,)>(&mut store, "run").unwrap();
    [0; 2].map(|_: u32| run.call(&mut store, (number,)).unwrap().0)
}

fn modules(component: &[u8]) -> Vec<&[u8]> {
    let payloads = wasmparser::Parser::new(0).parse_all(component);
    let ranges = payloads.filter_map(|payload| match payload.unwrap() {
        wasmparser::Payload::ModuleSection { unchecked_range, .. } => Some(unchecked_range),
        _ => None,
    });
    ranges.map(|range| &component[range]).collect()
}

#[test]
fn both_forms_answer_the_same() {
    let linked = linked();
    let flat = flatten::flatten(&linked, as_it_is).unwrap();
    // 40 calls before, one now; twice the number and the 7 that lies in memory.
    assert_eq!(run(&linked, 5), [41 + 24, 42 + 24]);
    assert_eq!(run(&flat, 5), run(&linked, 5));
}

#[test]
fn one_module_is_left_and_it_has_what_is_used() {
    let flat = flatten::flatten(&linked(), as_it_is).unwrap();
    let modules = modules(&flat);
    assert_eq!(modules.len(), 1);
    let (mut imports, mut functions, mut tables, mut globals) = (0, 0, 0, 0);
    for payload in wasmparser::Parser::new(0).parse_all(modules[0]) {
        match payload.unwrap() {
            wasmparser::Payload::ImportSection(section) => imports = section.into_imports().count(),
            wasmparser::Payload::FunctionSection(section) => functions = section.count(),
            wasmparser::Payload::TableSection(section) => tables = section.count(),
            wasmparser::Payload::GlobalSection(section) => globals = section.count(),
            _ => {}
        }
    }
    assert_eq!(imports, 1, "the host's function, and neither memory nor table");
    assert_eq!(functions, 2, "the export and what the table holds");
    assert_eq!(tables, 1, "the library's, and none to jump through");
    assert_eq!(globals, 1, "the one that is written; the others are constants");
}

#[test]
fn a_module_that_would_still_start_is_refused() {
    let text = "(component (core module (func $start) (start $start)) (core instance (instantiate 0)))";
    let error = flatten::flatten(&wat::parse_str(text).unwrap(), as_it_is).unwrap_err();
    assert!(error.to_string().contains("start function"), "{error}");
}

#[test]
fn the_memory_is_what_an_edit_makes_of_it() {
    let place = |memory: &[u8]| memory.iter().position(|byte| *byte == 7).unwrap();
    let edit = |memory: &mut [u8]| {
        memory[place(memory)] = 9;
        Ok(())
    };
    let (as_it_was, edited) =
        (flatten::flatten(&linked(), as_it_is).unwrap(), flatten::flatten(&linked(), edit).unwrap());
    assert_eq!(run(&edited, 5).map(|sum| sum - 4), run(&as_it_was, 5));
    let refused = flatten::flatten(&linked(), |_| anyhow::bail!("no such place")).unwrap_err();
    assert!(refused.to_string().contains("no such place"), "{refused}");
}
