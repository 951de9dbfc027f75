//! Values that a statement binds.

/// A value for a parameter, with its type also when it is null. There are no others: flags are 0 or 1, and lists are JSON.
#[derive(Clone, Debug)]
pub enum Value {
    Text(Option<String>),
    Integer(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

macro_rules! value_of {
    ($($of:ty => $kind:ident, $name:ident => $value:expr;)*) => {$(
        impl From<$of> for Value {
            fn from($name: $of) -> Self {
                Self::$kind(Some($value))
            }
        }

        impl From<Option<$of>> for Value {
            fn from(value: Option<$of>) -> Self {
                Self::$kind(value.map(|$name| $value))
            }
        }
    )*};
}

value_of! {
    &str => Text, text => text.to_owned();
    String => Text, text => text;
    i64 => Integer, number => number;
    u32 => Integer, number => number.into();
    bool => Integer, flag => flag.into();
    &[u8] => Bytes, bytes => bytes.to_vec();
    Vec<u8> => Bytes, bytes => bytes;
}
