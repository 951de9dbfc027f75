//! Tags on the command line.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// Reads `KEY=VALUE` and `KEY`.
pub fn read(texts: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut tags = Map::new();
    for text in texts {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Value::from(value)),
            None => (text.as_str(), Value::Null),
        };
        if tags.insert(key.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("the tag {key} is given twice"), "give each tag once"));
        }
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tag_may_have_no_value() {
        let tags = read(&["team=sales".to_owned(), "beta".to_owned()]).expect("tags");
        assert_eq!(Value::Object(tags), json!({"team": "sales", "beta": null}));
        assert!(read(&["a=1".to_owned(), "a".to_owned()]).is_err());
    }
}
