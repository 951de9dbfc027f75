//! Fills free chunks of the heap, so that allocations of a run are contiguous.
//!
//! Allocations in scattered free chunks would each make the run copy a page of the image. The allocator is wasi-libc's
//! dlmalloc (`malloc_state` and `malloc_chunk` in its `dlmalloc/src/malloc.c`, without footers and locks). Every free chunk
//! is marked as allocated, except for the largest: it becomes the designated victim, from which dlmalloc allocates when no
//! free chunk fits.

use anyhow::{Context, Result, ensure};

use crate::word::{WORD_BYTES, put, word};

/// Offsets of the fields of `malloc_state`.
const SMALL_MAP: usize = 0;
const TREE_MAP: usize = 4;
const VICTIM_BYTES: usize = 8;
const VICTIM: usize = 20;
const SMALL_BINS: usize = 40;
const TREE_BINS: usize = 304;
const STATE_BYTES: usize = 432;
/// Small bins, and tree bins.
const BINS: usize = 32;

/// Offsets of the fields of `malloc_chunk`, and of `malloc_tree_chunk`, which extends it.
const HEAD: usize = 4;
const FORWARD: usize = 8;
const BACK: usize = 12;
const CHILDREN: [usize; 2] = [16, 20];
/// Flags in the head of a chunk. The other bits are the chunk's size.
const PREVIOUS_IN_USE: u32 = 1;
const IN_USE: u32 = 2;
const FLAGS: u32 = 7;

/// Marks the free chunks in an image's memory as allocated, except for the largest.
///
/// # Errors
/// When the memory contains no allocator state or several, or the state is inconsistent.
pub fn seal(memory: &mut [u8]) -> Result<()> {
    let mut states = (0..memory.len() - STATE_BYTES).step_by(WORD_BYTES).filter(|place| is_state(memory, *place));
    let state = states.next().context("the image has no allocator that is known here")?;
    ensure!(states.next().is_none(), "the image has more than one allocator");
    let mut free = free(memory, state)?;
    free.sort_by_key(|chunk| bytes(memory, *chunk));
    let largest = free.pop().context("the image has no free memory")?;
    free.into_iter().try_for_each(|chunk| take(memory, chunk))?;
    for bin in 0..BINS {
        let place = small_bin(state, bin);
        put(memory, place + FORWARD, u32::try_from(place)?)?;
        put(memory, place + BACK, u32::try_from(place)?)?;
        put(memory, state + TREE_BINS + bin * WORD_BYTES, 0)?;
    }
    put(memory, state + SMALL_MAP, 0)?;
    put(memory, state + TREE_MAP, 0)?;
    clear(memory, largest)?;
    put(memory, state + VICTIM, u32::try_from(largest)?)?;
    put(memory, state + VICTIM_BYTES, u32::try_from(bytes(memory, largest))?)
}

/// The address of a small bin as a chunk: a bin consists of a chunk's links, which begin two words into the chunk.
const fn small_bin(state: usize, bin: usize) -> usize {
    state + SMALL_BINS + bin * 2 * WORD_BYTES
}

/// Whether the bins at `state` are circular lists, and the bin map marks exactly those that are not empty.
fn is_state(memory: &[u8], state: usize) -> bool {
    let follow = |place: usize, link: usize| word(memory, place + link).unwrap_or(0) as usize;
    (0..BINS).all(|bin| {
        let place = small_bin(state, bin);
        let (next, last) = (follow(place, FORWARD), follow(place, BACK));
        let is_marked = follow(state, SMALL_MAP) >> bin & 1 == 1;
        follow(next, BACK) == place && follow(last, FORWARD) == place && is_marked == (next != place)
    })
}

fn free(memory: &[u8], state: usize) -> Result<Vec<usize>> {
    let mut free = Vec::new();
    for bin in 0..BINS {
        let end = small_bin(state, bin);
        free.extend(list(memory, word(memory, end + FORWARD)? as usize, end)?);
    }
    let root = |bin| word(memory, state + TREE_BINS + bin * WORD_BYTES);
    let mut trees: Vec<_> = (0..BINS).map(root).collect::<Result<_>>()?;
    while let Some(tree) = trees.pop().map(|tree| tree as usize) {
        if tree != 0 {
            free.push(tree);
            free.extend(list(memory, word(memory, tree + FORWARD)? as usize, tree)?);
            trees.extend(CHILDREN.map(|child| word(memory, tree + child)).into_iter().collect::<Result<Vec<_>>>()?);
        }
    }
    let victim = word(memory, state + VICTIM)? as usize;
    free.extend(Some(victim).filter(|_| word(memory, state + VICTIM_BYTES).is_ok_and(|bytes| bytes > 0)));
    Ok(free)
}

/// The chunks of a linked list from `chunk` to `end`, exclusive.
fn list(memory: &[u8], mut chunk: usize, end: usize) -> Result<Vec<usize>> {
    let mut chunks = Vec::new();
    while chunk != end {
        ensure!(chunks.len() < memory.len() / 16, "a list of free memory has no end");
        chunks.push(chunk);
        chunk = word(memory, chunk + FORWARD)? as usize;
    }
    Ok(chunks)
}

fn bytes(memory: &[u8], chunk: usize) -> usize {
    (word(memory, chunk + HEAD).unwrap_or(0) & !FLAGS) as usize
}

/// Fills a free chunk with zeros, including its links.
fn clear(memory: &mut [u8], chunk: usize) -> Result<()> {
    let head = word(memory, chunk + HEAD)?;
    ensure!(head & FLAGS == PREVIOUS_IN_USE, "the chunk at {chunk} is not free");
    // The first word of the next chunk is the size of this one.
    let end = chunk + bytes(memory, chunk);
    memory.get_mut(chunk + FORWARD..end).context("a chunk beyond the memory")?.fill(0);
    Ok(())
}

/// Marks a free chunk as allocated and fills it with zeros.
fn take(memory: &mut [u8], chunk: usize) -> Result<()> {
    clear(memory, chunk)?;
    let (head, next) = (word(memory, chunk + HEAD)?, chunk + bytes(memory, chunk));
    put(memory, chunk + HEAD, head | IN_USE)?;
    let next_head = word(memory, next + HEAD)?;
    put(memory, next + HEAD, next_head | PREVIOUS_IN_USE)
}
