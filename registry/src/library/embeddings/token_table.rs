//! The vectors of tokens, from a file in the format safetensors: the length of a header, the header in JSON, and the numbers of its
//! tensors.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::unusable::unusable;
use crate::error::Result;

/// Bytes of the header.
const HEADER_BYTES_MAX: usize = 1 << 20;

/// Vectors of tokens, one after the other.
pub(super) struct TokenTable {
    numbers: Vec<f32>,
    dimensions: usize,
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl TokenTable {
    /// Reads the tensor `embeddings`, and multiplies each vector by its number of the tensor `weights`, if there is one.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let (header, data) = header(file).ok_or_else(|| unusable("model.safetensors has no header"))?;
        let header: HashMap<String, Value> =
            serde_json::from_slice(header).map_err(|error| unusable(format!("model.safetensors: {error}")))?;
        if header.contains_key("mapping") {
            return Err(unusable("model.safetensors: tokens that share vectors are not supported"));
        }
        let tensor = |name: &str| header.get(name).map(|tensor| numbers(tensor, data)).transpose();
        let (shape, mut numbers) =
            tensor("embeddings")?.ok_or_else(|| unusable("model.safetensors has no tensor embeddings"))?;
        let [tokens, dimensions] = shape[..] else { return Err(unusable("the tensor embeddings is no table")) };
        if dimensions == 0 || tokens.checked_mul(dimensions) != Some(numbers.len()) {
            return Err(unusable("the tensor embeddings has another size than its shape"));
        }
        if let Some((_, weights)) = tensor("weights")? {
            let vectors = numbers.chunks_exact_mut(dimensions).zip(weights);
            vectors.for_each(|(vector, weight)| vector.iter_mut().for_each(|number| *number *= weight));
        }
        Ok(Self { numbers, dimensions })
    }

    /// The sum of the vectors of tokens. It has the direction of their mean.
    pub fn sum(&self, tokens: &[usize]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions];
        for token in tokens {
            let start = token.saturating_mul(self.dimensions);
            let vector = self.numbers.get(start..start.saturating_add(self.dimensions)).unwrap_or_default();
            sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += number);
        }
        sum
    }
}

fn header(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = file.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= HEADER_BYTES_MAX)?;
    rest.split_at_checked(length)
}

/// Reads the numbers of a tensor, with its shape.
fn numbers(tensor: &Value, data: &[u8]) -> Result<(Vec<usize>, Vec<f32>)> {
    let Tensor { dtype, shape, data_offsets: (start, end) } =
        Tensor::deserialize(tensor).map_err(|error| unusable(format!("model.safetensors: {error}")))?;
    let bytes = data.get(start..end).ok_or_else(|| unusable("model.safetensors is cut off"))?;
    let numbers = match dtype.as_str() {
        "F32" => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        #[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
        "F64" => bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
        "F16" => bytes.as_chunks().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect(),
        other => return Err(unusable(format!("model.safetensors: numbers of the type {other} are not supported"))),
    };
    Ok((shape, numbers))
}

/// Converts a number of 16 bits (IEEE 754).
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1f, bits & 0x3ff);
    let magnitude = match exponent {
        0 => f32::from(fraction) * 2.0_f32.powi(-24),
        0x1f => f32::NAN,
        _ => (1.0 + f32::from(fraction) / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    };
    if sign == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(header: &Value, data: &[u8]) -> Vec<u8> {
        let header = header.to_string();
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    fn refused(file: &[u8]) -> String {
        TokenTable::parse(file).err().expect("refused").to_string()
    }

    #[test]
    fn vectors_are_read_and_weighted() {
        let data: Vec<u8> =
            [1.0_f32, 2.0, 3.0, 4.0, 1.0, 10.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let header = json!({
            "__metadata__": {"format": "pt"},
            "embeddings": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
            "weights": {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]},
        });
        let table = TokenTable::parse(&file(&header, &data)).unwrap();
        assert_eq!(table.sum(&[0, 1]), [31.0, 42.0]);
        assert_eq!(table.sum(&[2, usize::MAX]), [0.0, 0.0], "tokens that the table lacks");
    }

    #[test]
    fn numbers_of_16_bits_are_read() {
        assert_eq!([0x3c00, 0xc000, 0x3555, 0x0001].map(half), [1.0, -2.0, 0.333_251_95, 5.960_464_5e-8]);
    }

    #[test]
    fn other_files_are_refused() {
        assert!(refused(b"").contains("no header"));
        assert!(refused(&u64::MAX.to_le_bytes()).contains("no header"));
        assert!(refused(&file(&json!({}), b"")).contains("no tensor embeddings"));
        let of = |dtype: &str, shape: Value, end: u32| {
            refused(&file(&json!({"embeddings": {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}}), &[0; 8]))
        };
        assert!(of("I8", json!([1, 2]), 8).contains("type I8"));
        assert!(of("F32", json!([1, 2]), 9).contains("cut off"));
        assert!(of("F32", json!([1, 3]), 8).contains("another size"));
        assert!(of("F32", json!([2]), 8).contains("no table"));
    }
}
