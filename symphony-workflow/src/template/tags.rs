//! Tags of our own: `assign`, whose value is counted, and the stand-in for text between tags.

use std::io::Write;
use std::sync::Arc;

use liquid_core::error::ResultLiquidReplaceExt as _;
use liquid_core::model::KString;
use liquid_core::parser::FilterChain;
use liquid_core::{
    Error, Language, ParseTag, Renderable, Result, Runtime, TagReflection, TagTokenIter,
};

use super::meter::charge_value;

/// Name of the tag that stands for a text. No template can use it: the scanner knows no such tag.
pub(super) const TEXT: &str = "symphony_text";

/// `{% assign name = value %}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct AssignTag;

impl TagReflection for AssignTag {
    fn tag(&self) -> &'static str {
        "assign"
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseTag for AssignTag {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let name = arguments.expect_next("expected a name")?;
        let name = name.expect_identifier().into_result()?.to_owned();
        let sign = arguments.expect_next("expected `=`")?;
        sign.expect_str("=")
            .into_result_custom_msg("expected `=`")?;
        let value = arguments.expect_next("expected a value")?;
        let value = value.expect_filter_chain(options).into_result()?;
        arguments.expect_nothing()?;
        Ok(Box::new(Assign {
            name: name.into(),
            value,
        }))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

#[derive(Debug)]
struct Assign {
    name: KString,
    value: FilterChain,
}

impl Renderable for Assign {
    fn render_to(&self, _writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let value = self.value.evaluate(runtime)?.into_owned();
        charge_value(runtime, &value)?;
        runtime.set_global(self.name.clone(), value);
        Ok(())
    }
}

/// Writes one of the texts between the tags.
#[derive(Debug, Clone)]
pub(super) struct TextTag {
    texts: Arc<[String]>,
}

impl TextTag {
    pub(super) fn new(texts: Arc<[String]>) -> Self {
        Self { texts }
    }
}

impl TagReflection for TextTag {
    fn tag(&self) -> &'static str {
        TEXT
    }

    fn description(&self) -> &'static str {
        ""
    }
}

impl ParseTag for TextTag {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        _options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let number = arguments.expect_next("expected the number of a text")?;
        let index: Option<usize> = number.as_str().parse().ok();
        let is_known = index.is_some_and(|index| index < self.texts.len());
        let index = index
            .filter(|_| is_known)
            .ok_or_else(|| Error::with_msg("no such text"))?;
        Ok(Box::new(Text {
            texts: Arc::clone(&self.texts),
            index,
        }))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

#[derive(Debug)]
struct Text {
    texts: Arc<[String]>,
    index: usize,
}

impl Renderable for Text {
    fn render_to(&self, writer: &mut dyn Write, _runtime: &dyn Runtime) -> Result<()> {
        let text = self.texts.get(self.index).map_or("", String::as_str);
        writer.write_all(text.as_bytes()).replace("cannot write")
    }
}
