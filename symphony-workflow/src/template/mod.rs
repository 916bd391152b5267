//! The prompt template: strict Liquid within bounds (sections 5.4 and 12).
//!
//! The `liquid` crate parses expressions and applies filters. It offers no limit of work or output, treats an unknown
//! variable of a condition as false, and panics on large numbers. So a template is scanned first (`scan`): liquid sees
//! its tags only, and only tags that are within limits; text between them never reaches its parser. While a template is
//! rendered, everything that it reads, makes and writes is counted (`meter`).

mod blocks;
mod conditions;
mod continuation;
mod date;
mod filters;
mod found;
mod language;
mod language_names;
mod meter;
mod scan;
mod shown;
mod tags;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};

use liquid_core::runtime::{Renderable as _, RuntimeBuilder};

pub use continuation::continuation_prompt;
pub use meter::{OUTPUT_BYTES_MAX, VALUE_BYTES_MAX, WORK_MAX};
pub use scan::{DEPTH_MAX, TAG_BYTES_MAX, TAGS_MAX};

use self::meter::{BoundedWriter, Watched};
use self::scan::Scan;
use crate::error::{TemplateFault, WorkflowError};
use crate::source::Source;
use crate::ticket::Ticket;

/// The template of a file whose own is blank.
pub const DEFAULT_TEMPLATE: &str = "You are working on an issue from Linear.\n\n\
                                    Issue: {{ issue.identifier }}\nTitle: {{ issue.title }}\n\n\
                                    {% if issue.description %}{{ issue.description }}{% else %}It has no \
                                    description.{% endif %}";

/// A template that was parsed.
#[derive(Debug)]
pub struct Template {
    scan: Scan,
    parsed: liquid_core::Template,
}

impl Template {
    /// Parses the template of a file, or the default where it is blank.
    ///
    /// # Errors
    /// [`WorkflowError::TemplateParse`] with the line: an unknown tag or filter, a block that never ends, a syntax error,
    /// or a template beyond a limit.
    pub fn parse(source: &Source) -> Result<Self, WorkflowError> {
        match source.prompt_template() {
            "" => Self::parse_text(DEFAULT_TEMPLATE, source.template_line()),
            text => Self::parse_text(text, source.template_line()),
        }
    }

    /// Parses a text that begins on a line of the file.
    fn parse_text(text: &str, first_line: usize) -> Result<Self, WorkflowError> {
        let scan = Scan::of(text, first_line).map_err(WorkflowError::TemplateParse)?;
        let language = language::language(&scan);
        // The library's parser states some of its assumptions as panics.
        let parse = || liquid_core::parser::parse(scan.tags_text(), &language);
        let parsed = match catch_unwind(AssertUnwindSafe(parse)) {
            Ok(Ok(elements)) => liquid_core::Template::new(elements),
            Ok(Err(error)) => return Err(WorkflowError::TemplateParse(scan.fault_of(&error))),
            Err(_) => {
                return Err(WorkflowError::TemplateParse(TemplateFault {
                    line: first_line,
                    message: "the template cannot be parsed".to_owned(),
                }));
            }
        };
        Ok(Self { scan, parsed })
    }

    /// Renders the prompt for a ticket; `attempt` is absent the first time.
    ///
    /// # Errors
    /// [`WorkflowError::TemplateRender`] with the line: an unknown variable, a filter that cannot be applied, or a limit of
    /// work or output.
    pub fn render(&self, ticket: &Ticket, attempt: Option<u32>) -> Result<String, WorkflowError> {
        let globals = values::globals(ticket, attempt);
        let runtime = RuntimeBuilder::new().set_globals(&globals).build();
        let runtime = Watched::new(runtime);
        let mut writer = BoundedWriter::new(OUTPUT_BYTES_MAX);
        let render = || self.parsed.render_to(&mut writer, &runtime);
        let rendered = catch_unwind(AssertUnwindSafe(render));
        let meter = meter::take(&runtime);
        let fault = |(line, message)| {
            Err(WorkflowError::TemplateRender(TemplateFault {
                line,
                message,
            }))
        };
        if let Some(name) = &meter.unknown {
            return fault(self.scan.unknown_variable(name));
        }
        if let Some(limit) = meter.exceeded.or(writer.exceeded()) {
            return fault((self.scan.first_line(), limit.to_string()));
        }
        match rendered {
            Ok(Ok(())) => Ok(writer.into_text()),
            Ok(Err(error)) => fault(self.scan.refused(&meter, &error)),
            Err(_) => fault((
                self.scan.first_line(),
                "a filter cannot be applied to these values".to_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests;
