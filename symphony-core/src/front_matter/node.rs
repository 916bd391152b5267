//! A YAML value as plain data, read within bounds.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::fence::cut;

/// Most values in one front matter, an alias counted each time it is used: the largest shipped contract has under
/// a hundred, and this many are read in a millisecond.
pub const NODES_MAX: usize = 4096;

/// Deepest nesting of values, in levels: contracts need three.
pub const DEPTH_MAX: usize = 16;

/// A YAML value. Mappings keep their order, and duplicate fields.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Nothing: `null`, `~`, or no value at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping, in the order of the file.
    Mapping(Vec<(Self, Self)>),
    /// A value with a YAML tag, such as `!secret`.
    Tagged(String),
}

impl Node {
    /// Describes the value for a message: `the number 7`, `` `text` ``, `a list`.
    pub fn described(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(value) => format!("`{value}`"),
            Self::Integer(value) => format!("the number {value}"),
            Self::Float(value) => format!("the number {value}"),
            Self::Text(text) if text.trim().is_empty() => "a blank text".to_owned(),
            Self::Text(text) => format!("`{}`", cut(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Mapping(_) => "a mapping".to_owned(),
            Self::Tagged(tag) => format!("a value with the tag `{}`", cut(tag)),
        }
    }
}

/// Why reading stopped; the YAML library's own error carries only a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    Depth,
    Nodes,
}

/// What is left while a document is read.
#[derive(Debug)]
pub(super) struct Bounds {
    nodes_left: Cell<usize>,
    exceeded: Cell<Option<Exceeded>>,
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self {
            nodes_left: Cell::new(NODES_MAX),
            exceeded: Cell::new(None),
        }
    }

    pub(super) fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded.get()
    }
}

/// Reads one value within bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeSeed<'a> {
    bounds: &'a Bounds,
    depth: usize,
}

impl<'a> NodeSeed<'a> {
    pub(super) fn new(bounds: &'a Bounds) -> Self {
        Self { bounds, depth: 0 }
    }

    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= DEPTH_MAX {
            self.bounds.exceeded.set(Some(Exceeded::Depth));
            return Err(E::custom("nested too deeply"));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        let Some(left) = self.bounds.nodes_left.get().checked_sub(1) else {
            self.bounds.exceeded.set(Some(Exceeded::Nodes));
            return Err(D::Error::custom("too many values"));
        };
        self.bounds.nodes_left.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Integer(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Node, E> {
        Ok(Node::Integer(value))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Node, E> {
        Ok(Node::Integer(i128::try_from(value).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let seed = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(seed)? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let seed = self.deeper()?;
        let mut map = Vec::new();
        while let Some(key) = entries.next_key_seed(seed)? {
            map.push((key, entries.next_value_seed(seed)?));
        }
        Ok(Node::Mapping(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Node, A::Error> {
        // The content must be consumed: otherwise the parser does not move past it.
        let (tag, content) = tagged.variant::<String>()?;
        content.newtype_variant::<IgnoredAny>()?;
        Ok(Node::Tagged(tag))
    }
}
