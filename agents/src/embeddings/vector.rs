//! Vectors of length one.

/// Numbers of a vector. Models in use have up to 4,096.
const DIMENSIONS_MAX: usize = 4096;

/// Sums that are added up side by side, so that the compiler uses vector instructions.
const LANES: usize = 16;

/// A direction: a vector of length one.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Box<[f32]>);

impl Vector {
    /// Scales numbers to length one. `None` when they have no direction, or are too many.
    #[must_use]
    pub fn of(mut numbers: Vec<f32>) -> Option<Self> {
        let length = dot(&numbers, &numbers).sqrt();
        if numbers.len() > DIMENSIONS_MAX || !length.is_normal() {
            return None;
        }
        numbers.iter_mut().for_each(|number| *number /= length);
        Some(Self(numbers.into_boxed_slice()))
    }

    /// The cosine of the angle between two vectors; 0 for vectors of different models.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() == other.0.len() { dot(&self.0, &other.0) } else { 0.0 }
    }

    pub(crate) fn numbers(&self) -> &[f32] {
        &self.0
    }

    /// The numbers as they are stored: 32 bits each, little-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if rest.is_empty() {
            Self::of(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
        } else {
            None
        }
    }
}

/// With indices: iterators and closures over the lanes stay calls in a build without link-time optimisation.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: &[f32]) -> Vector {
        Vector::of(numbers.to_vec()).unwrap()
    }

    #[test]
    fn the_cosine_tells_directions_apart() {
        let (right, up) = (vector(&[2.0, 0.0]), vector(&[0.0, 3.0]));
        assert!((right.cosine(&right) - 1.0).abs() < 1e-6);
        assert!(right.cosine(&up).abs() < 1e-6);
        assert!((right.cosine(&vector(&[-1.0, 0.0])) + 1.0).abs() < 1e-6);
        assert!((right.cosine(&vector(&[1.0, 1.0])) - 0.5_f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn vectors_of_different_models_are_not_similar() {
        assert!(vector(&[1.0]).cosine(&vector(&[1.0, 0.0])).abs() < 1e-6);
    }

    #[test]
    fn numbers_beyond_the_lanes_count() {
        let numbers: Vec<f32> = (0..37_u8).map(f32::from).collect();
        assert!((vector(&numbers).cosine(&vector(&numbers)) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn numbers_without_a_direction_are_no_vector() {
        for numbers in [vec![], vec![0.0; 3], vec![f32::NAN], vec![f32::INFINITY, 1.0], vec![1.0; DIMENSIONS_MAX + 1]] {
            assert_eq!(Vector::of(numbers), None);
        }
    }

    #[test]
    fn a_vector_is_read_back() {
        let written = vector(&[1.0, -2.0, 0.5]);
        assert!(written.cosine(&Vector::from_bytes(&written.to_bytes()).unwrap()) > 0.999);
        assert_eq!(Vector::from_bytes(&[1, 2, 3]), None);
    }
}
