//! JSON of values that leave the tool. What JSON would drop or change is refused with its place: `serde_json` writes `null` for NaN and
//! infinity, and both of two members with the same name.

mod names;
mod unserialisable;

use std::collections::HashSet;

use serde::{Serialize, ser};

use self::names::Name;
use self::unserialisable::{Unserialisable, finite};

/// The kinds of values that a result tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    Text,
    Other,
}

/// Writes compact JSON. Returns it with the kind of the value.
pub fn to_json(value: &(impl Serialize + ?Sized)) -> Result<(Kind, String), Unserialisable> {
    let kind = value.serialize(Check)?;
    let text = serde_json::to_string(value).map_err(Unserialisable::new)?;
    Ok((kind, text))
}

type Checked = Result<Kind, Unserialisable>;

/// A serializer that writes nothing.
struct Check;

/// A list that is checked. `base` stands before the places of its items.
struct List {
    base: String,
    next: usize,
}

/// An object that is checked.
#[derive(Default)]
struct Object {
    base: String,
    names: HashSet<String>,
    name: String,
}

fn check_float(value: f64) -> Checked {
    finite(value).map(|_| Kind::Other)
}

macro_rules! accept {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, _: $type) -> Checked {
            Ok(Kind::Other)
        }
    )*};
}

impl ser::Serializer for Check {
    type Ok = Kind;
    type Error = Unserialisable;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Object;
    type SerializeStruct = Object;
    type SerializeStructVariant = Object;

    accept! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_bytes: &[u8],
    }

    fn serialize_f32(self, value: f32) -> Checked {
        check_float(value.into())
    }

    fn serialize_f64(self, value: f64) -> Checked {
        check_float(value)
    }

    fn serialize_char(self, _: char) -> Checked {
        Ok(Kind::Text)
    }

    fn serialize_str(self, _: &str) -> Checked {
        Ok(Kind::Text)
    }

    fn serialize_none(self) -> Checked {
        Ok(Kind::Nothing)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Checked {
        Ok(Kind::Nothing)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Checked {
        Ok(Kind::Nothing)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(Kind::Text)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(Self).map_err(|error| error.within(|| format!(".{variant}")))?;
        Ok(Kind::Other)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List, Unserialisable> {
        Ok(List::within(String::new()))
    }

    fn serialize_tuple(self, _: usize) -> Result<List, Unserialisable> {
        Ok(List::within(String::new()))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List, Unserialisable> {
        Ok(List::within(String::new()))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List, Unserialisable> {
        Ok(List::within(format!(".{variant}")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Object, Unserialisable> {
        Ok(Object::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Object, Unserialisable> {
        Ok(Object::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Object, Unserialisable> {
        Ok(Object { base: format!(".{variant}"), ..Object::default() })
    }
}

impl List {
    const fn within(base: String) -> Self {
        Self { base, next: 0 }
    }

    fn check<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unserialisable> {
        let place = self.next;
        self.next += 1;
        let checked = value.serialize(Check);
        checked.map(drop).map_err(|error| error.within(|| format!("{}[{place}]", self.base)))
    }
}

impl Object {
    fn check_name(&mut self, name: &str) -> Result<(), Unserialisable> {
        name.clone_into(&mut self.name);
        if self.names.insert(name.to_owned()) {
            return Ok(());
        }
        let twice = Unserialisable::new("the object has the name twice, of which readers of JSON keep one");
        Err(twice.within(|| format!("{}.{name}", self.base)))
    }

    fn check<T: Serialize + ?Sized>(&self, value: &T) -> Result<(), Unserialisable> {
        let checked = value.serialize(Check);
        checked.map(drop).map_err(|error| error.within(|| format!("{}.{}", self.base, self.name)))
    }
}

macro_rules! list {
    ($($trait:ident::$method:ident,)*) => {$(
        impl ser::$trait for List {
            type Ok = Kind;
            type Error = Unserialisable;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unserialisable> {
                self.check(value)
            }

            fn end(self) -> Checked {
                Ok(Kind::Other)
            }
        }
    )*};
}

list! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! object {
    ($($trait:ident,)*) => {$(
        impl ser::$trait for Object {
            type Ok = Kind;
            type Error = Unserialisable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unserialisable> {
                self.check_name(name)?;
                self.check(value)
            }

            fn end(self) -> Checked {
                Ok(Kind::Other)
            }
        }
    )*};
}

object! { SerializeStruct, SerializeStructVariant, }

impl ser::SerializeMap for Object {
    type Ok = Kind;
    type Error = Unserialisable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unserialisable> {
        let name = key.serialize(Name).map_err(|error| error.within(|| format!("{} key", self.base)))?;
        self.check_name(&name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unserialisable> {
        self.check(value)
    }

    fn end(self) -> Checked {
        Ok(Kind::Other)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Row {
        rate: f64,
        #[serde(flatten)]
        more: BTreeMap<String, u8>,
    }

    #[derive(Serialize)]
    enum Shape {
        Circle { radius: f32 },
        Line(u8, f64),
        Point,
    }

    fn row(rate: f64, more: &[&str]) -> Row {
        Row { rate, more: more.iter().map(|name| ((*name).to_owned(), 1)).collect() }
    }

    fn refused(value: &impl Serialize) -> String {
        to_json(value).unwrap_err().message("result")
    }

    #[test]
    fn what_json_would_change_is_refused_with_its_place() {
        let rows = HashMap::from([("rows", vec![row(1.0, &[]), row(f64::NAN, &[])])]);
        assert_eq!(refused(&rows), "result.rows[1].rate cannot be written as JSON: NaN is not a JSON number");
        assert!(refused(&f64::INFINITY).starts_with("result cannot be written as JSON: inf is not"));
        assert!(refused(&Some(f32::NEG_INFINITY)).contains("-inf"));
        assert!(refused(&[Shape::Circle { radius: f32::NAN }]).starts_with("result[0].Circle.radius "));
        assert!(refused(&Shape::Line(1, f64::NAN)).starts_with("result.Line[1] "));
        assert!(
            refused(&row(1.0, &["rate"]))
                .starts_with("result.rate cannot be written as JSON: the object has the name twice")
        );
        assert!(
            refused(&HashMap::from([((1, 2), 3)]))
                .starts_with("result key cannot be written as JSON: a JSON key is a string")
        );
        assert!(refused(&HashMap::from([(None::<u8>, 3)])).contains("a JSON key is a string"));
    }

    #[test]
    fn other_values_are_written_as_serde_json_does() {
        let value = json!({"a": [1, -2.5, null, true, "é"], "b": {}});
        assert_eq!(to_json(&value), Ok((Kind::Other, value.to_string())));
        assert_eq!(to_json(&Shape::Point), Ok((Kind::Text, "\"Point\"".into())));
        assert_eq!(to_json(&None::<u8>), Ok((Kind::Nothing, "null".into())));
        assert_eq!(to_json(&BTreeMap::from([(1, 'x')])), Ok((Kind::Other, "{\"1\":\"x\"}".into())));
        assert_eq!(to_json(&u128::MAX).map(|(_, text)| text), Ok(u128::MAX.to_string()));
    }
}
