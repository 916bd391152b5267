//! `if` and `unless`. liquid's own fail when a value that is not there is asked what it contains, such as the description of
//! a ticket without one; in Liquid the answer is no.

use std::io::Write;

use liquid_core::model::{State, ValueView, ValueViewCmp};
use liquid_core::parser::{BlockElement, TagToken};
use liquid_core::{
    BlockReflection, Error, Expression, Language, ParseBlock, Renderable, Result, Runtime,
    TagBlock, TagTokenIter, Template,
};

use super::meter::NO_CONTAINER;

/// `{% if condition %}…{% elsif condition %}…{% else %}…{% endif %}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct IfBlock;

/// `{% unless condition %}…{% else %}…{% endunless %}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnlessBlock;

impl BlockReflection for IfBlock {
    fn start_tag(&self) -> &'static str {
        "if"
    }

    fn end_tag(&self) -> &'static str {
        "endif"
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl BlockReflection for UnlessBlock {
    fn start_tag(&self) -> &'static str {
        "unless"
    }

    fn end_tag(&self) -> &'static str {
        "endunless"
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseBlock for IfBlock {
    fn parse(
        &self,
        arguments: TagTokenIter<'_>,
        block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        choices(arguments, block, options, true)
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

impl ParseBlock for UnlessBlock {
    fn parse(
        &self,
        arguments: TagTokenIter<'_>,
        block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        choices(arguments, block, options, false)
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

/// Reads the parts of a block; the first is chosen when its condition comes to `expected`.
fn choices(
    arguments: TagTokenIter<'_>,
    mut block: TagBlock<'_, '_>,
    options: &Language,
    expected: bool,
) -> Result<Box<dyn Renderable>> {
    let mut condition = condition(arguments)?;
    let mut expected_now = expected;
    let mut chosen = Choices::default();
    let mut body = Vec::new();
    while let Some(element) = block.next()? {
        match element {
            BlockElement::Tag(tag) if tag.name() == "elsif" => {
                let next = self::condition(tag.into_tokens())?;
                let before = std::mem::replace(&mut condition, next);
                chosen.parts.push(Choice {
                    condition: before,
                    expected: expected_now,
                    body: Template::new(std::mem::take(&mut body)),
                });
                expected_now = true;
            }
            BlockElement::Tag(mut tag) if tag.name() == "else" => {
                tag.tokens().expect_nothing()?;
                chosen.otherwise = Some(Template::new(block.parse_all(options)?));
                break;
            }
            element => body.push(element.parse(&mut block, options)?),
        }
    }
    chosen.parts.push(Choice {
        condition,
        expected: expected_now,
        body: Template::new(body),
    });
    block.assert_empty();
    Ok(Box::new(chosen))
}

#[derive(Debug, Default)]
struct Choices {
    parts: Vec<Choice>,
    otherwise: Option<Template>,
}

#[derive(Debug)]
struct Choice {
    condition: Vec<Vec<Atom>>,
    expected: bool,
    body: Template,
}

impl Renderable for Choices {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        for choice in &self.parts {
            if holds(&choice.condition, runtime)? == choice.expected {
                return choice.body.render_to(writer, runtime);
            }
        }
        match &self.otherwise {
            Some(otherwise) => otherwise.render_to(writer, runtime),
            None => Ok(()),
        }
    }
}

/// One comparison, or the question whether a value is there and is not `false`.
#[derive(Debug)]
struct Atom {
    left: Expression,
    compared: Option<(Operator, Expression)>,
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    Equal,
    Unequal,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Contains,
}

/// Reads a condition: alternatives, each of them comparisons that all have to hold. `and` binds closer than `or`.
fn condition(mut arguments: TagTokenIter<'_>) -> Result<Vec<Vec<Atom>>> {
    let mut alternatives = vec![Vec::new()];
    let mut next = None;
    loop {
        let (atom, after) = atom(&mut arguments, next.take())?;
        if let Some(all) = alternatives.last_mut() {
            all.push(atom);
        }
        let Some(word) = after else {
            return Ok(alternatives);
        };
        match word.as_str() {
            "and" => {}
            "or" => alternatives.push(Vec::new()),
            _ => return Err(word.raise_custom_error("expected `and` or `or`")),
        }
    }
}

/// Reads one comparison; returns the token after it.
fn atom<'a>(
    arguments: &mut TagTokenIter<'a>,
    first: Option<TagToken<'a>>,
) -> Result<(Atom, Option<TagToken<'a>>)> {
    let left = match first {
        Some(token) => token,
        None => arguments.expect_next("expected a value")?,
    };
    let left = left.expect_value().into_result()?;
    let Some(word) = arguments.next() else {
        return Ok((
            Atom {
                left,
                compared: None,
            },
            None,
        ));
    };
    let operator = match word.as_str() {
        "==" => Operator::Equal,
        "!=" | "<>" => Operator::Unequal,
        "<" => Operator::Less,
        ">" => Operator::Greater,
        "<=" => Operator::LessOrEqual,
        ">=" => Operator::GreaterOrEqual,
        "contains" => Operator::Contains,
        _ => {
            return Ok((
                Atom {
                    left,
                    compared: None,
                },
                Some(word),
            ));
        }
    };
    let right = arguments.expect_next("expected a value")?;
    let right = right.expect_value().into_result()?;
    let compared = Some((operator, right));
    Ok((Atom { left, compared }, arguments.next()))
}

fn holds(alternatives: &[Vec<Atom>], runtime: &dyn Runtime) -> Result<bool> {
    for all in alternatives {
        let mut holds = true;
        for atom in all {
            holds = atom.holds(runtime)?;
            if !holds {
                break;
            }
        }
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Atom {
    fn holds(&self, runtime: &dyn Runtime) -> Result<bool> {
        let left = self.left.evaluate(runtime)?;
        let Some((operator, right)) = &self.compared else {
            return Ok(left.query_state(State::Truthy));
        };
        let right = right.evaluate(runtime)?;
        let (left, right) = (left.as_view(), right.as_view());
        let (one, other) = (ValueViewCmp::new(left), ValueViewCmp::new(right));
        Ok(match operator {
            Operator::Equal => one == other,
            Operator::Unequal => one != other,
            Operator::Less => one < other,
            Operator::Greater => one > other,
            Operator::LessOrEqual => one <= other,
            Operator::GreaterOrEqual => one >= other,
            Operator::Contains => contains(left, right)?,
        })
    }
}

fn contains(whole: &dyn ValueView, part: &dyn ValueView) -> Result<bool> {
    if whole.is_nil() || part.is_nil() {
        return Ok(false);
    }
    if let Some(text) = whole.as_scalar() {
        return Ok(text.to_kstr().contains(part.to_kstr().as_str()));
    }
    if let Some(object) = whole.as_object() {
        return Ok(object.contains_key(part.to_kstr().as_str()));
    }
    if let Some(list) = whole.as_array() {
        let part = ValueViewCmp::new(part);
        return Ok(list.values().any(|item| ValueViewCmp::new(item) == part));
    }
    Err(Error::with_msg(NO_CONTAINER))
}
