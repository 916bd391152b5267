//! The API message inside a line of the Claude stream: its content is a string or a list of blocks.

use super::json::{Broken, Cursor, Raw};

/// Most blocks of a message that are kept; the CLI writes one per line.
const BLOCKS_MAX: usize = 1024;

/// The fields of an API message that matter.
#[derive(Default)]
pub(crate) struct Message<'a> {
    /// The id.
    pub(crate) id: Raw<'a>,
    /// The usage.
    pub(crate) usage: Raw<'a>,
    /// The blocks of its content.
    pub(crate) blocks: Vec<Block<'a>>,
    /// Its content if that is a string, or the message itself if it is one (in some system events).
    pub(crate) text: Raw<'a>,
}

/// The fields of all kinds of content blocks together.
#[derive(Default)]
pub(crate) struct Block<'a> {
    /// The type.
    pub(crate) kind: Raw<'a>,
    /// Of a text.
    pub(crate) text: Raw<'a>,
    /// Of a thought.
    pub(crate) thinking: Raw<'a>,
    /// Of a call.
    pub(crate) id: Raw<'a>,
    /// Of a call.
    pub(crate) name: Raw<'a>,
    /// Of a call.
    pub(crate) input: Raw<'a>,
    /// Of an answer.
    pub(crate) tool_use_id: Raw<'a>,
    /// Of an answer.
    pub(crate) content: Raw<'a>,
    /// Of an answer.
    pub(crate) is_error: Raw<'a>,
}

impl<'a> Message<'a> {
    /// Parses the message at the cursor.
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut message = Self::default();
        if cursor.peek()? != b'{' {
            let value = cursor.skip()?;
            if value.is_string() {
                message.text = value;
            }
            return Ok(message);
        }
        cursor.object(|cursor, key| {
            match key {
                b"id" => message.id = cursor.skip()?,
                b"usage" => message.usage = cursor.skip()?,
                b"content" if cursor.peek()? == b'[' => {
                    message.blocks = read_blocks(cursor)?;
                }
                b"content" => message.text = cursor.skip()?,
                _ => drop(cursor.skip()?),
            }
            Ok(())
        })?;
        Ok(message)
    }
}

fn read_blocks<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<Block<'a>>, Broken> {
    let mut blocks = Vec::new();
    cursor.array(|cursor| {
        let mut block = Block::default();
        cursor.object(|cursor, key| {
            let value = cursor.skip()?;
            match key {
                b"type" => block.kind = value,
                b"text" => block.text = value,
                b"thinking" => block.thinking = value,
                b"id" => block.id = value,
                b"name" => block.name = value,
                b"input" => block.input = value,
                b"tool_use_id" => block.tool_use_id = value,
                b"content" => block.content = value,
                b"is_error" => block.is_error = value,
                _ => {}
            }
            Ok(())
        })?;
        if blocks.len() < BLOCKS_MAX {
            blocks.push(block);
        }
        Ok(())
    })?;
    Ok(blocks)
}

/// Returns the text of a tool's answer: a string, or the texts of its blocks, each on its own line; a block without
/// text is shown as its type in brackets.
pub(crate) fn texts(content: Raw<'_>, bytes_max: usize) -> String {
    if let Some(text) = content.text(bytes_max) {
        return text;
    }
    let mut out = String::new();
    if content.is_none() {
        return out;
    }
    for block in read_blocks(&mut content.cursor()).unwrap_or_default() {
        if out.len() >= bytes_max {
            break;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        if let Some(text) = block.text.text(bytes_max) {
            out.push_str(&text);
        } else {
            let kind = block.kind.text(bytes_max);
            out.push('[');
            out.push_str(kind.as_deref().unwrap_or("untyped"));
            out.push(']');
        }
    }
    out.truncate(out.floor_char_boundary(bytes_max));
    out
}
