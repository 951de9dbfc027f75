//! Memories as the engine lays them out, and damaged ones.

use proptest::prelude::*;

use super::super::memory::{compute_slot_address, text};
use super::super::script::{code, field, slot, source};
use super::super::waiting::slot as waiting;
use super::*;

/// Begins the part of the memory that the tests fill. It is above the variable with the address of the context.
const START: usize = 0x0025_0000;
const BYTES: usize = 0x2000;

/// A memory in which structures are laid out one after the other.
struct Builder {
    memory: Vec<u8>,
    next: usize,
}

impl Builder {
    fn new() -> Self {
        Self { memory: vec![0; START + BYTES], next: START }
    }

    fn set(&mut self, address: usize, word: usize) {
        let word = u32::try_from(word).expect("32 bits").to_le_bytes();
        self.memory[address..address + 4].copy_from_slice(&word);
    }

    /// Adds a structure with words at offsets.
    fn add(&mut self, bytes: usize, words: &[(usize, usize)]) -> usize {
        let address = self.next;
        self.next += bytes.next_multiple_of(8);
        words.iter().for_each(|(offset, word)| self.set(address + offset, *word));
        address
    }

    fn add_bytes(&mut self, bytes: &[u8]) -> usize {
        let address = self.add(bytes.len(), &[]);
        self.memory[address..address + bytes.len()].copy_from_slice(bytes);
        address
    }

    fn add_atom(&mut self, text: &str) -> usize {
        let characters: Vec<u8> = text.chars().map(|one| u8::try_from(one).expect("Latin 1")).collect();
        let atom = self.add(8, &[(0, 0x458), (text::LENGTH, characters.len())]);
        self.add_bytes(&characters);
        atom
    }

    /// An object of a class with values and their types in slots.
    fn add_object(&mut self, class: &str, slots: &[(usize, usize, u32)]) -> usize {
        let name = self.add_bytes(format!("{class}\0").as_bytes());
        let class = self.add(8, &[(0, name)]);
        let base = self.add(8, &[(0, class)]);
        let shape = self.add(8, &[(0, base)]);
        let object = self.add(compute_slot_address(0, 12), &[(0, shape)]);
        slots.iter().for_each(|&(slot, value, tag)| self.set_slot(object, slot, value, tag));
        object
    }

    fn set_slot(&mut self, object: usize, slot: usize, value: usize, tag: u32) {
        let at = compute_slot_address(object, slot);
        self.set(at, value);
        self.set(at + 4, tag as usize);
    }

    /// A source whose script has a name of its own, or that of a file.
    fn add_source(&mut self, url: Option<&str>, file: &str) -> usize {
        let mut add_text = |characters: Vec<u8>| {
            let start = self.add_bytes(&characters);
            self.add(8, &[(0, start), (source::LENGTH, characters.len())])
        };
        let url = url.map(|url| add_text(url.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()));
        let file = add_text(file.bytes().chain([0]).collect());
        let source = self.add(0x50, &[(source::DISPLAY_URL, url.unwrap_or(0)), (source::FILE, file)]);
        self.add_object("ScriptSource", &[(slot::SOURCE, source, tag::PRIVATE)])
    }

    /// A script with a function, eight instructions, source notes, and a place to continue at the second instruction.
    fn add_script(&mut self, source: usize, name: &str, notes: &[u8]) -> Added {
        let begin = (code::BYTES + 8 + notes.len()).next_multiple_of(4) + 4;
        let words = [(code::RESUME_OFFSETS, begin), (code::LENGTH, 8), (begin - 4, begin + 4), (begin, 1)];
        let code = self.add(begin + 4, &words);
        self.memory[code + code::FLAGS] = 1;
        let first = code + code::BYTES;
        self.memory[first + 8..first + 8 + notes.len()].copy_from_slice(notes);
        let shared = self.add(0x0c, &[(field::CODE, code)]);
        let words = [(field::SOURCE, source), (field::LINE, 7), (field::COLUMN, 3), (field::SHARED, shared)];
        let script = self.add(0x38, &words);
        let name = self.add_atom(name);
        let function =
            self.add_object("Function", &[(slot::SCRIPT, script, tag::PRIVATE), (slot::NAME, name, tag::STRING)]);
        self.set(script + field::FUNCTION, function);
        Added { script, function, first }
    }

    /// An asynchronous function at an `await`, whose promise has a reaction.
    fn add_waiting(&mut self, function: usize, reaction: &[(usize, usize, u32)]) -> usize {
        let promise = self.add_promise(reaction);
        let slots = [
            (waiting::CALLEE, function, tag::OBJECT),
            (waiting::STACK, function, tag::OBJECT),
            (waiting::RESUMPTION, 0, tag::INTEGER),
            (waiting::PROMISE, promise, tag::OBJECT),
        ];
        self.add_object("AsyncFunctionGenerator", &slots)
    }

    fn add_promise(&mut self, reaction: &[(usize, usize, u32)]) -> usize {
        let reaction = self.add_object("PromiseReactionRecord", reaction);
        self.add_object("Promise", &[(waiting::REACTION, reaction, tag::OBJECT)])
    }
}

/// A script, its function and its first instruction.
struct Added {
    script: usize,
    function: usize,
    first: usize,
}

/// Source notes: the second instruction is two lines below the first one, in column 9.
const NOTES: [u8; 4] = [0x41, 2, 9, 0x80];

/// An engine in `inner`, which `outer` called and which a function of the image called, after an `await` in `waiting`.
fn stopped() -> Vec<u8> {
    let mut builder = Builder::new();
    let (bundle, image) = (builder.add_source(Some(BUNDLE), "eval"), builder.add_source(None, "shim/run.js"));
    let inner = builder.add_script(bundle, "f\u{fc}r/inner<", &NOTES);
    let outer = builder.add_script(bundle, "outer", &[0x80]);
    let shim = builder.add_script(image, "called", &[0x80]);
    let entry = builder.add(0x40, &[(frame::SCRIPT, shim.script)]);
    let called = |script, previous, instruction| {
        [(frame::SCRIPT, script), (frame::PREVIOUS, previous), (frame::PREVIOUS_INSTRUCTION, instruction)]
    };
    let middle = builder.add(0x40, &called(outer.script, entry, shim.first + 1));
    let top = builder.add(0x40, &called(inner.script, middle, outer.first + 7));
    let (url, name, cause) = (builder.add_atom(BUNDLE), builder.add_atom("waiting"), builder.add_bytes(b"async\0"));
    let slots = [
        (saved::SOURCE, url, tag::STRING),
        (saved::LINE, 20, tag::INTEGER),
        (saved::COLUMN, 5, tag::INTEGER),
        (saved::FUNCTION, name, tag::STRING),
    ];
    let saved = builder.add_object("SavedFrame", &slots);
    let context = builder.add(CONTEXT_ACTIVATION + 4, &[]);
    let words = [
        (activation::CONTEXT, context),
        (activation::ASYNC_STACK, saved),
        (activation::ASYNC_CAUSE, cause),
        (activation::INSTRUCTION, inner.first + 1),
        (activation::FRAME, top),
    ];
    let activation = builder.add(0x50, &words);
    builder.set(context + CONTEXT_ACTIVATION, activation);
    builder.set(CONTEXT, context);
    assert!(builder.next <= START + BYTES);
    builder.memory
}

/// An engine in which `outer` awaits a promise that `inner` settles, while the image awaits `outer`.
fn waiting() -> Vec<u8> {
    let mut builder = Builder::new();
    let (bundle, image) = (builder.add_source(Some(BUNDLE), "eval"), builder.add_source(None, "shim/loop.js"));
    let inner = builder.add_script(bundle, "inner", &NOTES);
    let outer = builder.add_script(bundle, "outer", &NOTES);
    let abandoned = builder.add_script(bundle, "abandoned", &NOTES);
    let shim = builder.add_script(image, "settled", &[0x80]);
    let flags = |flags| (waiting::FLAGS, flags, tag::INTEGER);
    let result = builder.add_promise(&[flags(0), (waiting::ON_FULFILLED, shim.function, tag::OBJECT)]);
    let outer = builder.add_waiting(outer.function, &[flags(4), (waiting::AWAITING, result, tag::OBJECT)]);
    let all = builder.add_promise(&[flags(8), (waiting::AWAITING, outer, tag::OBJECT)]);
    builder.add_waiting(inner.function, &[flags(0), (waiting::DERIVED, all, tag::OBJECT)]);
    builder.add_waiting(abandoned.function, &[flags(0)]);
    let context = builder.add(CONTEXT_ACTIVATION + 4, &[]);
    builder.set(CONTEXT, context);
    assert!(builder.next <= START + BYTES);
    builder.memory
}

/// The calls in a memory, and those that wait.
fn read(memory: &[u8], calls_max: usize) -> [Vec<String>; 2] {
    let Some(engine) = Engine::find(memory) else { return [Vec::new(), Vec::new()] };
    [engine.read_calls(calls_max), engine.read_waiting_calls(calls_max)].map(|calls| {
        let shown = |call: Call| {
            let Call { function, is_async, line, column } = call;
            format!("{}{function} {line}:{column}", if is_async { "async " } else { "" })
        };
        calls.into_iter().map(shown).collect()
    })
}

#[test]
fn calls_are_those_of_the_bundle() {
    let memory = stopped();
    let all = ["f\u{fc}r/inner< 9:9", "outer 7:3", "async waiting 20:5"];
    assert_eq!(read(&memory, 9), [&all[..], &[]]);
    assert_eq!(read(&memory, 2), [&all[..2], &[]]);
    assert_eq!(read(&memory[..START], 9).concat(), [""; 0]);
    assert_eq!(read(&[], 9).concat(), [""; 0]);
}

#[test]
fn calls_wait_for_one_another() {
    let memory = waiting();
    let all = ["inner 9:9", "async outer 9:9"];
    assert_eq!(read(&memory, 9), [&[], &all[..]]);
    assert_eq!(read(&memory, 1), [&[], &all[..1]]);
}

#[test]
fn a_script_of_another_engine_has_no_calls() {
    let mut builder = Builder { memory: stopped(), next: 0 };
    let memory = Memory(&builder.memory);
    let activation = memory.read_number(memory.read_number(CONTEXT).unwrap() + CONTEXT_ACTIVATION).unwrap();
    let script =
        memory.read_number(memory.read_number(activation + activation::FRAME).unwrap() + frame::SCRIPT).unwrap();
    builder.set(script + field::FUNCTION, script);
    assert_eq!(read(&builder.memory, 9).concat(), [""; 0]);
}

#[test]
fn circles_end() {
    let mut builder = Builder { memory: stopped(), next: 0 };
    let memory = Memory(&builder.memory);
    let activation = memory.read_number(memory.read_number(CONTEXT).unwrap() + CONTEXT_ACTIVATION).unwrap();
    let top = memory.read_number(activation + activation::FRAME).unwrap();
    let instruction = memory.read_number(activation + activation::INSTRUCTION).unwrap();
    builder.set(top + frame::PREVIOUS, top);
    builder.set(top + frame::PREVIOUS_INSTRUCTION, instruction);
    assert_eq!(read(&builder.memory, usize::MAX)[0].len(), STEPS_MAX - 1);
}

/// Words of a memory, and what replaces them: mostly addresses of structures.
fn changes() -> impl Strategy<Value = Vec<(usize, usize)>> {
    let word = prop_oneof![4 => START..START + BYTES, 1 => 0..0x40_usize, 1 => 0..=0xffff_ffff_usize];
    prop::collection::vec((0..BYTES / 4, word), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_memory_does_harm(memory in prop_oneof![Just(stopped()), Just(waiting())], changes in changes()) {
        let mut builder = Builder { memory, next: 0 };
        for (index, word) in changes {
            builder.set(START + 4 * index, word);
        }
        for calls in read(&builder.memory, 9) {
            prop_assert!(calls.len() <= 9);
        }
    }
}
