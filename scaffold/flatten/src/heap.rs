//! Takes the free places between the image's objects, so that what a run allocates lies together.
//!
//! Spread over the holes, a run's objects would make it copy a page of the image for each of them. The allocator is
//! wasi-libc's dlmalloc (`malloc_state` and `malloc_chunk` in its `dlmalloc/src/malloc.c`, without footers and locks). It
//! is left as it would be if somebody had asked for every free chunk and kept it, except for the largest: that is its
//! designated victim, from which it cuts what no free chunk fits.

use anyhow::{Context, Result, ensure};

use crate::word::{WORD_BYTES, put, word};

/// The fields of `malloc_state`, from its beginning.
const SMALL_MAP: usize = 0;
const TREE_MAP: usize = 4;
const VICTIM_BYTES: usize = 8;
const VICTIM: usize = 20;
const SMALL_BINS: usize = 40;
const TREE_BINS: usize = 304;
const STATE_BYTES: usize = 432;
/// Of either kind.
const BINS: usize = 32;

/// The fields of `malloc_chunk`, and of `malloc_tree_chunk` behind them.
const HEAD: usize = 4;
const FORWARD: usize = 8;
const BACK: usize = 12;
const CHILDREN: [usize; 2] = [16, 20];
/// Flags of a chunk's head, which has its size besides.
const PREVIOUS_IN_USE: u32 = 1;
const IN_USE: u32 = 2;
const FLAGS: u32 = 7;

/// Changes the memory of an image.
///
/// # Errors
/// When there is no state of an allocator in it, or it contradicts itself.
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

/// A bin has the links of a chunk, which begins two words before them.
const fn small_bin(state: usize, bin: usize) -> usize {
    state + SMALL_BINS + bin * 2 * WORD_BYTES
}

/// Whether all bins are lists that lead back to them, and the map says which are empty.
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

/// The chunks from one to another, the last left out.
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

/// Empties a free chunk.
fn clear(memory: &mut [u8], chunk: usize) -> Result<()> {
    let head = word(memory, chunk + HEAD)?;
    ensure!(head & FLAGS == PREVIOUS_IN_USE, "the chunk at {chunk} is not free");
    // The next chunk begins with this one's size.
    let end = chunk + bytes(memory, chunk);
    memory.get_mut(chunk + FORWARD..end).context("a chunk beyond the memory")?.fill(0);
    Ok(())
}

/// Makes a free chunk one that is in use, with nothing in it.
fn take(memory: &mut [u8], chunk: usize) -> Result<()> {
    clear(memory, chunk)?;
    let (head, next) = (word(memory, chunk + HEAD)?, chunk + bytes(memory, chunk));
    put(memory, chunk + HEAD, head | IN_USE)?;
    let next_head = word(memory, next + HEAD)?;
    put(memory, next + HEAD, next_head | PREVIOUS_IN_USE)
}
