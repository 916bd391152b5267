//! Reads JSON with comments and trailing commas, and records the position of each value.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};
use symphony_core::config::{ConfigProblem, KeyPath, Position, Positions, ProblemKind};

/// Depth to which positions are recorded: the deepest key (`projects.api.gates[0].command[1]`) has six steps, and every
/// step of every path takes memory.
const POSITION_DEPTH_MAX: usize = 8;

/// What a text holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedText {
    /// The value; an empty object when the text has a syntax error.
    pub value: Value,
    /// The positions of the values.
    pub positions: Positions,
    /// The syntax error, or keys that are given twice.
    pub problems: Vec<ConfigProblem>,
}

/// What of JSONC is taken: comments and trailing commas, nothing else beyond JSON.
pub(crate) const fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses the text of a file; `file` is its name in problems.
pub fn parse_text(file: &str, text: &str) -> ParsedText {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut walk = Walk {
        file,
        cursor: Cursor {
            text,
            offset: 0,
            position: START,
        },
        positions: Positions::default(),
        problems: Vec::new(),
    };
    let value = match parse_to_ast(text, &CollectOptions::default(), &options()) {
        Ok(parsed) => parsed
            .value
            .map(|value| walk.value(&value, &KeyPath::root(), None)),
        Err(error) => {
            let position = Position {
                line: error.line_display(),
                column: error.column_display(),
            };
            walk.syntax_error(syntax_message(error.kind()), position);
            Some(Value::Object(Map::new()))
        }
    };
    let value = value.unwrap_or_else(|| {
        let message = "the file is empty; expected an object in braces".to_owned();
        walk.syntax_error(message, START);
        Value::Object(Map::new())
    });
    ParsedText {
        value,
        positions: walk.positions,
        problems: walk.problems,
    }
}

const START: Position = Position { line: 1, column: 1 };

/// Says what is wrong, and what to write instead where that is clear.
fn syntax_message(kind: &ParseErrorKind) -> String {
    use ParseErrorKind as Kind;
    let message = match kind {
        Kind::UnterminatedObject => "the object that begins here is not closed; expected a `}`",
        Kind::UnterminatedArray => "the list that begins here is not closed; expected a `]`",
        Kind::UnterminatedCommentBlock => {
            "the comment that begins here is not closed; expected a `*/`"
        }
        Kind::ExpectedComma => "a comma is missing here",
        Kind::ExpectedStringObjectProperty => "expected a key in double quotes",
        Kind::ExpectedColonAfterObjectKey => "expected a colon after the key",
        Kind::ExpectedObjectValue => "expected a value after the colon",
        Kind::SingleQuotedStringsNotAllowed => "expected double quotes, found single ones",
        Kind::MultipleRootJsonValues => "expected the end of the file",
        Kind::UnexpectedWord => "expected a value, found a bare word; a text needs double quotes",
        other => return lower_first(&other.to_string()),
    };
    message.to_owned()
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

struct Walk<'a> {
    file: &'a str,
    cursor: Cursor<'a>,
    positions: Positions,
    problems: Vec<ConfigProblem>,
}

impl Walk<'_> {
    fn problem(&mut self, path: KeyPath, kind: ProblemKind, position: Position) {
        let (file, position) = (Some(self.file.to_owned()), Some(position));
        self.problems.push(ConfigProblem {
            path,
            kind,
            file,
            position,
        });
    }

    fn syntax_error(&mut self, message: String, position: Position) {
        self.problem(KeyPath::root(), ProblemKind::Syntax { message }, position);
    }

    /// Converts a value. The parser limits the depth, so that the recursion is bounded.
    fn value(&mut self, value: &ast::Value<'_>, path: &KeyPath, name: Option<Position>) -> Value {
        if path.segments().len() <= POSITION_DEPTH_MAX {
            let position = self.cursor.locate(value.start());
            self.positions
                .insert(path.clone(), name.unwrap_or(position), position);
        }
        match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::StringLit(literal) => Value::from(literal.value.as_ref()),
            ast::Value::NumberLit(literal) => serde_json::from_str(literal.value)
                .map_or_else(|_| Value::from(literal.value), Value::Number),
            ast::Value::Array(array) => {
                let items = array.elements.iter().enumerate();
                items
                    .map(|(index, item)| self.value(item, &below(path, |p| p.index(index)), None))
                    .collect()
            }
            ast::Value::Object(object) => self.object(object, path),
        }
    }

    fn object(&mut self, object: &ast::Object<'_>, path: &KeyPath) -> Value {
        let mut map = Map::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let at = below(path, |path| path.key(name));
            let position = self.cursor.locate(property.name.start());
            if map.contains_key(name) {
                self.problem(at, ProblemKind::Duplicate { also: None }, position);
                continue;
            }
            let value = self.value(&property.value, &at, Some(position));
            map.insert(name.to_owned(), value);
        }
        Value::Object(map)
    }
}

/// Extends a path, up to the depth to which positions are recorded.
fn below(path: &KeyPath, step: impl Fn(&KeyPath) -> KeyPath) -> KeyPath {
    if path.segments().len() > POSITION_DEPTH_MAX {
        path.clone()
    } else {
        step(path)
    }
}

/// Turns offsets that mostly grow into lines and columns, in one pass over the text.
struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    position: Position,
}

impl Cursor<'_> {
    fn locate(&mut self, offset: usize) -> Position {
        if offset < self.offset {
            (self.offset, self.position) = (0, START);
        }
        for character in self
            .text
            .get(self.offset..offset)
            .unwrap_or_default()
            .chars()
        {
            if character == '\n' {
                self.position = Position {
                    line: self.position.line + 1,
                    column: 1,
                };
            } else {
                self.position.column += 1;
            }
        }
        self.offset = offset;
        self.position
    }
}
