//! Blocks of our own: `for`, whose iterations are counted, and `capture`, whose value is bounded.

use std::io::Write;

use liquid_core::model::{KString, Object, Value, ValueView};
use liquid_core::parser::{BlockElement, TryMatchToken};
use liquid_core::runtime::{Interrupt, InterruptRegister, StackFrame};
use liquid_core::{
    BlockReflection, Error, Expression, Language, ParseBlock, Renderable, Result, Runtime,
    TagBlock, TagTokenIter, Template,
};

use super::meter::{
    BoundedWriter, Limit, NO_LIST, NO_NUMBER, VALUE_BYTES_MAX, Watched, charge, charge_value,
    exceed,
};

/// `{% for item in list %}` with `limit`, `offset`, `reversed` and `else`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForBlock {
    iteration_cost: usize,
}

impl ForBlock {
    /// Each iteration counts as much as the whole template is long: it cannot execute more than that.
    pub(super) fn new(iteration_cost: usize) -> Self {
        Self { iteration_cost }
    }
}

impl BlockReflection for ForBlock {
    fn start_tag(&self) -> &'static str {
        "for"
    }

    fn end_tag(&self) -> &'static str {
        "endfor"
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseBlock for ForBlock {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let name = arguments.expect_next("expected a name")?;
        let name = name.expect_identifier().into_result()?.to_owned();
        let word = arguments.expect_next("expected `in`")?;
        word.expect_str("in")
            .into_result_custom_msg("expected `in`")?;
        let items = arguments.expect_next("expected a list or a range")?;
        let items = match items.expect_value() {
            TryMatchToken::Matches(list) => Items::List(list),
            TryMatchToken::Fails(range) => {
                let (start, end) = range.expect_range().into_result()?;
                Items::Range(start, end)
            }
        };
        let mut parsed = For {
            name: name.into(),
            items,
            limit: None,
            offset: None,
            is_reversed: false,
            body: Template::new(Vec::new()),
            otherwise: None,
            iteration_cost: self.iteration_cost,
        };
        while let Some(word) = arguments.next() {
            match word.as_str() {
                "limit" => parsed.limit = Some(value_of(&mut arguments)?),
                "offset" => parsed.offset = Some(value_of(&mut arguments)?),
                "reversed" => parsed.is_reversed = true,
                _ => {
                    return Err(word.raise_custom_error("expected `limit`, `offset` or `reversed`"));
                }
            }
        }
        let mut body = Vec::new();
        while let Some(element) = block.next()? {
            match element {
                BlockElement::Tag(mut tag) if tag.name() == "else" => {
                    tag.tokens().expect_nothing()?;
                    parsed.otherwise = Some(Template::new(block.parse_all(options)?));
                    break;
                }
                element => body.push(element.parse(&mut block, options)?),
            }
        }
        parsed.body = Template::new(body);
        block.assert_empty();
        Ok(Box::new(parsed))
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

/// Reads `: value` after `limit` or `offset`.
fn value_of(arguments: &mut TagTokenIter<'_>) -> Result<Expression> {
    let sign = arguments.expect_next("expected `:`")?;
    sign.expect_str(":")
        .into_result_custom_msg("expected `:`")?;
    arguments
        .expect_next("expected a value")?
        .expect_value()
        .into_result()
}

#[derive(Debug)]
enum Items {
    List(Expression),
    Range(Expression, Expression),
}

#[derive(Debug)]
struct For {
    name: KString,
    items: Items,
    limit: Option<Expression>,
    offset: Option<Expression>,
    is_reversed: bool,
    body: Template,
    otherwise: Option<Template>,
    iteration_cost: usize,
}

impl For {
    /// Returns the items that the loop goes over.
    fn items(&self, runtime: &dyn Runtime) -> Result<Vec<Value>> {
        let number = |expression: &Option<Expression>| {
            let value = expression
                .as_ref()
                .map(|value| whole_number(value, runtime));
            value.transpose()
        };
        let offset = usize::try_from(number(&self.offset)?.unwrap_or(0)).unwrap_or(0);
        let limit =
            number(&self.limit)?.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0));
        let mut items: Vec<Value> = match &self.items {
            Items::List(list) => {
                let all = list_of(list.evaluate(runtime)?.as_view())?;
                all.into_iter().skip(offset).take(limit).collect()
            }
            Items::Range(start, end) => {
                let (start, end) = (whole_number(start, runtime)?, whole_number(end, runtime)?);
                let chosen = (start..=end).skip(offset).take(limit);
                // counted before it is made, and item by item
                let mut items = Vec::new();
                for number in chosen {
                    charge(runtime, self.iteration_cost)?;
                    items.push(Value::scalar(number));
                }
                items
            }
        };
        if self.is_reversed {
            items.reverse();
        }
        Ok(items)
    }
}

impl Renderable for For {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let items = self.items(runtime)?;
        let length = items.len();
        if let (0, Some(otherwise)) = (length, &self.otherwise) {
            return otherwise.render_to(writer, runtime);
        }
        for (index, item) in items.into_iter().enumerate() {
            charge(runtime, self.iteration_cost)?;
            let mut variables = Object::new();
            variables.insert("forloop".into(), place(index, length));
            variables.insert(self.name.clone(), item);
            let frame = Watched::new(StackFrame::new(runtime, &variables));
            self.body.render_to(writer, &frame)?;
            let interrupt = runtime.registers().get_mut::<InterruptRegister>().reset();
            if matches!(interrupt, Some(Interrupt::Break)) {
                break;
            }
        }
        Ok(())
    }
}

/// Returns `forloop`: where the loop is.
fn place(index: usize, length: usize) -> Value {
    let number = |value: usize| Value::scalar(i64::try_from(value).unwrap_or(i64::MAX));
    let entries: [(&'static str, Value); 7] = [
        ("length", number(length)),
        ("index", number(index + 1)),
        ("index0", number(index)),
        ("rindex", number(length - index)),
        ("rindex0", number(length - index - 1)),
        ("first", Value::scalar(index == 0)),
        ("last", Value::scalar(index + 1 == length)),
    ];
    let entries = entries.into_iter();
    Value::Object(
        entries
            .map(|(name, value)| (KString::from_static(name), value))
            .collect(),
    )
}

/// Returns the items of a list, the entries of an object as pairs, and none of nothing.
fn list_of(value: &dyn ValueView) -> Result<Vec<Value>> {
    if let Some(array) = value.as_array() {
        return Ok(array.values().map(ValueView::to_value).collect());
    }
    if let Some(object) = value.as_object() {
        let pair = |(name, value): (liquid_core::model::KStringCow<'_>, &dyn ValueView)| {
            Value::Array(vec![Value::scalar(name.into_owned()), value.to_value()])
        };
        return Ok(object.iter().map(pair).collect());
    }
    if value.is_nil() || value.is_state() {
        return Ok(Vec::new());
    }
    Err(Error::with_msg(NO_LIST))
}

fn whole_number(value: &Expression, runtime: &dyn Runtime) -> Result<i64> {
    let value = value.evaluate(runtime)?;
    let number = value.as_scalar().and_then(|value| value.to_integer());
    number.ok_or_else(|| Error::with_msg(NO_NUMBER))
}

/// `{% capture name %}…{% endcapture %}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct CaptureBlock;

impl BlockReflection for CaptureBlock {
    fn start_tag(&self) -> &'static str {
        "capture"
    }

    fn end_tag(&self) -> &'static str {
        "endcapture"
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseBlock for CaptureBlock {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let name = arguments.expect_next("expected a name")?;
        let name = name.expect_identifier().into_result()?.to_owned();
        arguments.expect_nothing()?;
        let body = Template::new(block.parse_all(options)?);
        block.assert_empty();
        Ok(Box::new(Capture {
            name: name.into(),
            body,
        }))
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

#[derive(Debug)]
struct Capture {
    name: KString,
    body: Template,
}

impl Renderable for Capture {
    fn render_to(&self, _writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let mut captured = BoundedWriter::new(VALUE_BYTES_MAX);
        let rendered = self.body.render_to(&mut captured, runtime);
        if captured.exceeded().is_some() {
            exceed(runtime, Limit::Value);
        }
        rendered?;
        let value = Value::scalar(captured.into_text());
        charge_value(runtime, &value)?;
        runtime.set_global(self.name.clone(), value);
        Ok(())
    }
}
