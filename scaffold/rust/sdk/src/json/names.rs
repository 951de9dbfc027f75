//! The names of the members of objects, from the keys of maps.

use serde::Serialize;
use serde::ser::{self, Impossible};

use super::unserialisable::{Unserialisable, finite};

/// Reads the name of a member, as `serde_json` writes it.
pub struct Name;

fn refuse_key<T>() -> Result<T, Unserialisable> {
    Err(Unserialisable::new("a JSON key is a string"))
}

macro_rules! names {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, name: $type) -> Result<String, Unserialisable> {
            Ok(name.to_string())
        }
    )*};
}

impl ser::Serializer for Name {
    type Ok = String;
    type Error = Unserialisable;
    type SerializeSeq = Impossible<String, Unserialisable>;
    type SerializeTuple = Impossible<String, Unserialisable>;
    type SerializeTupleStruct = Impossible<String, Unserialisable>;
    type SerializeTupleVariant = Impossible<String, Unserialisable>;
    type SerializeMap = Impossible<String, Unserialisable>;
    type SerializeStruct = Impossible<String, Unserialisable>;
    type SerializeStructVariant = Impossible<String, Unserialisable>;

    names! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char,
        serialize_str: &str,
    }

    fn serialize_f32(self, value: f32) -> Result<String, Unserialisable> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<String, Unserialisable> {
        finite(value).map(|value| value.to_string())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, Unserialisable> {
        refuse_key()
    }

    fn serialize_none(self) -> Result<String, Unserialisable> {
        refuse_key()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, Unserialisable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<String, Unserialisable> {
        refuse_key()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<String, Unserialisable> {
        refuse_key()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, Unserialisable> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, Unserialisable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Unserialisable> {
        refuse_key()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Unserialisable> {
        refuse_key()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Unserialisable> {
        refuse_key()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Unserialisable> {
        refuse_key()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unserialisable> {
        refuse_key()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Unserialisable> {
        refuse_key()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Unserialisable> {
        refuse_key()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unserialisable> {
        refuse_key()
    }
}
