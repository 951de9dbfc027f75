//! `sort_by`: a field with a direction before it. A `+` that was not percent-encoded arrives as a space.

use api_kit::extract::{Decoder, Node, TextDecoder};
use registry::Direction;
use serde_json::{Value, json};

/// Decoder of one value of `sort_by`, for these fields. The sign is required.
pub(crate) struct SortKey<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + 'static> Decoder for SortKey<T> {
    type Value = (T, Direction);

    fn schema(&self) -> Value {
        let names: Vec<String> = self.0.iter().map(|(name, _)| name.replace('.', r"\.")).collect();
        json!({"type": "string", "pattern": format!("^[+ -]({})$", names.join("|"))})
    }

    fn decode(&self, node: &Node) -> Option<Self::Value> {
        node.parse_text(|text| self.parse(text))
    }
}

impl<T: Copy + 'static> TextDecoder for SortKey<T> {
    fn parse(&self, text: &str) -> Result<Self::Value, String> {
        let descending = text.strip_prefix('-').map(|name| (Direction::Descending, name));
        let signed = descending.or_else(|| Some((Direction::Ascending, text.strip_prefix(['+', ' '])?)));
        let find = |(direction, name)| {
            let (_, field) = self.0.iter().find(|(field, _)| *field == name)?;
            Some((*field, direction))
        };
        signed.and_then(find).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|(field, _)| *field).collect();
            format!("should be + or - and one of: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use registry::Direction::{Ascending, Descending};

    use super::{SortKey, TextDecoder};

    #[test]
    fn signs_give_the_direction() {
        let key = SortKey(&[("name", 1), ("deprecated", 2)]);
        for (text, expected) in [("+name", (1, Ascending)), (" name", (1, Ascending)), ("+deprecated", (2, Ascending))]
        {
            assert_eq!(key.parse(text), Ok(expected));
        }
        assert_eq!(key.parse("-name"), Ok((1, Descending)));
        assert!(key.parse("--name").is_err());
        assert!(key.parse("").is_err());
        assert!(key.parse("name").is_err());
    }
}
