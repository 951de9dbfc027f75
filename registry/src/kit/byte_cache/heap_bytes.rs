//! Estimates of the bytes that values take on the heap. They are rather too high than too low: a bound that counts too little is none.

use std::collections::BTreeMap;
use std::mem::size_of;
use std::sync::Arc;

use serde_json::{Map, Value};
use smol_str::SmolStr;

/// Keys of a node of a `BTreeMap`.
const NODE_KEYS: usize = 11;
/// Keys of a node that was filled in order.
const NODE_KEYS_FILLED: usize = 5;
/// Bytes of a node besides its keys and values, with its share of the nodes above.
const NODE_BYTES: usize = 40;
/// Bytes of a text that has no allocation of its own.
const INLINE_BYTES: usize = 23;
/// Bytes of the counters of an `Arc`.
const COUNTERS_BYTES: usize = 16;

/// A value whose bytes on the heap can be told. Bytes that it shares with others count in full for each.
pub trait HeapBytes {
    /// Bytes besides those of the value itself.
    fn heap_bytes(&self) -> usize;
}

/// Returns the bytes that an allocator takes for an allocation: it rounds up to one of four classes between two powers of two.
#[must_use]
pub const fn allocated(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes + bytes / 8 + 16 }
}

/// Sums the fields of structs that are on the heap.
#[macro_export]
macro_rules! heap_bytes {
    ($($name:ident { $($field:ident),* })*) => {$(
        impl $crate::HeapBytes for $name {
            fn heap_bytes(&self) -> usize {
                0 $(+ $crate::HeapBytes::heap_bytes(&self.$field))*
            }
        }
    )*};
}

pub(crate) use heap_bytes;

macro_rules! nothing_on_the_heap {
    ($($type:ty)*) => {$(
        impl HeapBytes for $type {
            fn heap_bytes(&self) -> usize {
                0
            }
        }
    )*};
}

nothing_on_the_heap! { () bool char u8 u16 u32 u64 usize i64 }

impl<T, const N: usize> HeapBytes for [T; N]
where
    T: HeapBytes,
{
    fn heap_bytes(&self) -> usize {
        self.iter().map(T::heap_bytes).sum()
    }
}

impl HeapBytes for String {
    fn heap_bytes(&self) -> usize {
        allocated(self.capacity())
    }
}

impl HeapBytes for SmolStr {
    fn heap_bytes(&self) -> usize {
        if self.len() <= INLINE_BYTES { 0 } else { allocated(COUNTERS_BYTES + self.len()) }
    }
}

impl HeapBytes for Arc<str> {
    fn heap_bytes(&self) -> usize {
        allocated(COUNTERS_BYTES + self.len())
    }
}

impl<T: HeapBytes> HeapBytes for Arc<[T]> {
    fn heap_bytes(&self) -> usize {
        allocated(COUNTERS_BYTES + size_of_val(&**self)) + self.iter().map(T::heap_bytes).sum::<usize>()
    }
}

impl<T: HeapBytes> HeapBytes for Arc<T> {
    fn heap_bytes(&self) -> usize {
        allocated(COUNTERS_BYTES + size_of::<T>()) + T::heap_bytes(self)
    }
}

impl<T: HeapBytes> HeapBytes for Box<T> {
    fn heap_bytes(&self) -> usize {
        allocated(size_of::<T>()) + T::heap_bytes(self)
    }
}

impl<T: HeapBytes> HeapBytes for Option<T> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, T::heap_bytes)
    }
}

impl<T: HeapBytes> HeapBytes for Vec<T> {
    fn heap_bytes(&self) -> usize {
        allocated(self.capacity() * size_of::<T>()) + self.iter().map(T::heap_bytes).sum::<usize>()
    }
}

impl<A: HeapBytes, B: HeapBytes> HeapBytes for (A, B) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes()
    }
}

impl<A: HeapBytes, B: HeapBytes, C: HeapBytes> HeapBytes for (A, B, C) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes() + self.2.heap_bytes()
    }
}

impl<K: HeapBytes, V: HeapBytes> HeapBytes for BTreeMap<K, V> {
    fn heap_bytes(&self) -> usize {
        let entries = self.iter().map(|(key, value)| key.heap_bytes() + value.heap_bytes());
        compute_node_bytes(self.len(), size_of::<K>() + size_of::<V>()) + entries.sum::<usize>()
    }
}

impl HeapBytes for Map<String, Value> {
    fn heap_bytes(&self) -> usize {
        let entries = self.iter().map(|(key, value)| key.heap_bytes() + value.heap_bytes());
        compute_node_bytes(self.len(), size_of::<String>() + size_of::<Value>()) + entries.sum::<usize>()
    }
}

impl HeapBytes for Value {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => 0,
            Self::String(text) => text.heap_bytes(),
            Self::Array(items) => items.heap_bytes(),
            Self::Object(members) => members.heap_bytes(),
        }
    }
}

/// The bytes of the nodes of a map. A map with one key has the node of eleven.
const fn compute_node_bytes(keys: usize, bytes: usize) -> usize {
    let count = if keys <= NODE_KEYS { keys.div_ceil(NODE_KEYS) } else { keys.div_ceil(NODE_KEYS_FILLED) };
    count * allocated(NODE_KEYS * bytes + NODE_BYTES)
}
