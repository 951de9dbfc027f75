//! Little-endian 32-bit words in a module's memory.

use anyhow::{Context, Result};

pub const WORD_BYTES: usize = 4;

pub fn word(memory: &[u8], address: usize) -> Result<u32> {
    let bytes = memory.get(address..address + WORD_BYTES).context("a word beyond the memory")?;
    Ok(u32::from_le_bytes(bytes.try_into()?))
}

pub fn put(memory: &mut [u8], address: usize, value: u32) -> Result<()> {
    let bytes = memory.get_mut(address..address + WORD_BYTES).context("a word beyond the memory")?;
    bytes.copy_from_slice(&value.to_le_bytes());
    Ok(())
}
