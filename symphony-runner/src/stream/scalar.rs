//! Lenient pieces of JSON: a scalar of any type, and the text of a string without decoding all of it.
//!
//! A CLI may change a field's type in its next version. A strict type would turn the whole line into a broken one and
//! lose a result; a [`Scalar`] takes whatever comes and answers `None` where the type does not fit.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A JSON scalar; arrays and objects count as nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Scalar<'a> {
    /// Absent, null, an array or an object.
    #[default]
    None,
    /// A boolean.
    Bool(bool),
    /// An unsigned integer.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    /// Returns the string, when it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns an owned copy of the string, when it is one.
    pub(crate) fn owned(&self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    /// Returns the number, when it is a whole one that is not negative.
    pub(crate) fn unsigned(&self) -> Option<u64> {
        match self {
            Self::Unsigned(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number, when it is a possible HTTP status.
    pub(crate) fn http_status(&self) -> Option<u16> {
        self.unsigned()
            .and_then(|number| u16::try_from(number).ok())
            .filter(|status| (100..1000).contains(status))
    }

    /// Returns the number, when it is one.
    #[expect(
        clippy::cast_precision_loss,
        reason = "amounts of money are far below the limit"
    )]
    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Unsigned(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// Says whether it is `true`.
    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    /// Says whether nothing was told.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Unsigned(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "negative numbers mean nothing here"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::None)
    }
}
