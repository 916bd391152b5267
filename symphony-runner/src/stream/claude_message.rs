//! The API message inside a line of the Claude stream, read leniently: content is a string or a list of blocks.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::scalar::Scalar;
use super::text::{DETAIL_BYTES_MAX, TEXT_BYTES_MAX, cut};

/// The `message` of a line: an API message, or (in some system events) a text.
#[derive(Default)]
pub(crate) enum Message<'a> {
    /// Absent, or of no known shape.
    #[default]
    None,
    /// An API message.
    Body(MessageBody<'a>),
    /// A text, cut.
    Text(String),
}

/// The fields of an API message that matter.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct MessageBody<'a> {
    #[serde(borrow)]
    pub(crate) id: Scalar<'a>,
    pub(crate) content: Content<'a>,
    pub(crate) usage: Option<&'a RawValue>,
}

/// The content of an API message.
#[derive(Default)]
pub(crate) enum Content<'a> {
    /// Absent, or of no known shape.
    #[default]
    None,
    /// Blocks.
    Blocks(Vec<Block<'a>>),
    /// A text, cut.
    Text(String),
}

/// The fields of all kinds of content blocks together.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Scalar<'a>,
    pub(crate) text: Option<&'a RawValue>,
    pub(crate) thinking: Option<&'a RawValue>,
    pub(crate) id: Scalar<'a>,
    pub(crate) name: Scalar<'a>,
    pub(crate) input: Option<&'a RawValue>,
    pub(crate) tool_use_id: Scalar<'a>,
    pub(crate) content: Option<&'a RawValue>,
    pub(crate) is_error: Scalar<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Message<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MessageVisitor;
        impl<'de> Visitor<'de> for MessageVisitor {
            type Value = Message<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Message::Text(cut(text, DETAIL_BYTES_MAX).to_owned()))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Message::None)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Message::None)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Message::None)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Message::None)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Message::None)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Message::None)
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
                MessageBody::deserialize(MapAccessDeserializer::new(entries)).map(Message::Body)
            }
        }
        deserializer.deserialize_any(MessageVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the content of a message")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(cut(text, TEXT_BYTES_MAX).to_owned()))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::None)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = items.next_element::<Block<'de>>()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::None)
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}
