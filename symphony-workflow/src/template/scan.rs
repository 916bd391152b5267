//! Finds the tags of a template, within limits, and keeps the text between them away from liquid's parser.
//!
//! liquid's grammar takes time that grows with the square of a run of blanks, its parser recurses for each block and each
//! bracket, and it panics on a whole number that is too long. So each tag is looked at here first, and the text handed to
//! liquid consists of tags alone.

use std::sync::Arc;

use super::found::Found;
use super::language_names::{BLOCKS, INSIDE};
use super::meter::{Meter, RENDER_FAULTS};
use super::shown::shown;
use super::tags::TEXT;
use crate::error::TemplateFault;

/// Most tags of a template: far more than a prompt has.
pub const TAGS_MAX: usize = 2_000;
/// Longest tag, in bytes.
pub const TAG_BYTES_MAX: usize = 4 << 10;
/// Deepest nesting of blocks, and of brackets in a tag.
pub const DEPTH_MAX: usize = 32;

/// A template whose tags were found.
#[derive(Debug)]
pub(super) struct Scan {
    first_line: usize,
    bytes: usize,
    /// The tags alone, as liquid gets them.
    tags_text: String,
    texts: Arc<[String]>,
    tags: Vec<Tag>,
}

/// A tag, where it is in the file and where in the text that liquid gets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tag {
    line: usize,
    begins: usize,
    text: String,
}

impl Scan {
    /// Looks at a template that begins on a line of the file.
    ///
    /// # Errors
    /// When a tag is unknown, not closed or beyond a limit, or a block is not closed.
    pub(super) fn of(text: &str, first_line: usize) -> Result<Self, TemplateFault> {
        let mut scanner = Scanner {
            text,
            at: 0,
            first_line,
            trims: false,
            tags_text: String::new(),
            texts: Vec::new(),
            tags: Vec::new(),
            open: Vec::new(),
        };
        scanner.run()?;
        Ok(Self {
            first_line,
            bytes: text.len(),
            tags_text: scanner.tags_text,
            texts: scanner.texts.into(),
            tags: scanner.tags,
        })
    }

    /// Returns what liquid parses.
    pub(super) fn tags_text(&self) -> &str {
        &self.tags_text
    }

    /// Returns the texts that the tags of [`tags_text`](Self::tags_text) number.
    pub(super) fn texts(&self) -> Arc<[String]> {
        Arc::clone(&self.texts)
    }

    /// Returns the line of the file on which the template begins.
    pub(super) fn first_line(&self) -> usize {
        self.first_line
    }

    /// Returns what an iteration of a loop counts as.
    pub(super) fn iteration_cost(&self) -> usize {
        self.bytes
    }

    /// Describes an error of liquid's parser.
    pub(super) fn fault_of(&self, error: &liquid_core::Error) -> TemplateFault {
        let text = error.to_string();
        let place = text.lines().find_map(place_of);
        let detail = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix("= "));
        let headline = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("liquid: "));
        let reason = detail.or(headline).unwrap_or("it cannot be parsed");
        // what is wrong with the arguments of a filter comes without a place, but with the filter
        let filter = || {
            text.lines()
                .find_map(|line| line.trim_start().strip_prefix("filter="))
        };
        let tag = match place {
            Some(place) => {
                let offset = offset_of(&self.tags_text, place);
                self.tags.iter().rfind(|tag| tag.begins <= offset)
            }
            None => {
                filter().and_then(|filter| self.tags.iter().find(|tag| tag.text.contains(filter)))
            }
        };
        match tag {
            Some(tag) => TemplateFault {
                line: tag.line,
                message: format!("in `{}`: {}", shown(&tag.text), shown(reason)),
            },
            None => TemplateFault {
                line: self.first_line,
                message: shown(reason),
            },
        }
    }

    /// Describes a variable that does not exist, with the line of the first tag that names it.
    pub(super) fn unknown_variable(&self, name: &str) -> (usize, String) {
        let root = name.split('.').next().unwrap_or(name);
        let line = self.line_with(name).or_else(|| self.line_with(root));
        let message = format!(
            "`{}` is not known; a template has `issue` with the fields of the ticket, and `attempt`",
            shown(name)
        );
        (line.unwrap_or(self.first_line), message)
    }

    /// Describes what could not be rendered. liquid's own texts may repeat values of the ticket, so only ours are shown.
    pub(super) fn refused(&self, meter: &Meter, error: &liquid_core::Error) -> (usize, String) {
        if let Some(filter) = &meter.refused {
            let line = self.line_with(filter).unwrap_or(self.first_line);
            let message = format!("the filter `{filter}` cannot be applied to these values");
            return (line, message);
        }
        let text = error.to_string();
        let reason = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("liquid: "));
        let reason = reason.filter(|reason| RENDER_FAULTS.contains(reason));
        let reason =
            reason.unwrap_or("a value of this ticket is of another kind than the template needs");
        (self.first_line, reason.to_owned())
    }

    fn line_with(&self, name: &str) -> Option<usize> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        self.tags.iter().find_map(|tag| {
            let (at, _) = tag.text.match_indices(name).find(|(at, found)| {
                let before = tag
                    .text
                    .get(..*at)
                    .and_then(|text| text.chars().next_back());
                let after = tag
                    .text
                    .get(at + found.len()..)
                    .and_then(|text| text.chars().next());
                !before.is_some_and(is_part) && !after.is_some_and(is_part)
            })?;
            let lines = tag
                .text
                .get(..at)
                .map_or(0, |text| text.matches('\n').count());
            Some(tag.line + lines)
        })
    }
}

/// Reads ` --> LINE:COLUMN` of an error.
fn place_of(line: &str) -> Option<(usize, usize)> {
    let place = line
        .trim_start()
        .strip_prefix("liquid:")
        .unwrap_or(line)
        .trim_start();
    let (line, column) = place.strip_prefix("--> ")?.trim().split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

fn offset_of(text: &str, (line, column): (usize, usize)) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let bytes: usize = before.map(str::len).sum();
    let rest = text.get(bytes..).unwrap_or_default();
    let within = rest.char_indices().nth(column.saturating_sub(1));
    bytes + within.map_or(rest.len(), |(at, _)| at)
}

/// The state of a look at a template.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    first_line: usize,
    /// Whether the tag before took the white space after it away.
    trims: bool,
    tags_text: String,
    texts: Vec<String>,
    tags: Vec<Tag>,
    /// Blocks that are open: the name and the line of each.
    open: Vec<(&'a str, usize)>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Result<(), TemplateFault> {
        while let Some(begins) = self.find_tag() {
            let tag = self.tag_at(begins)?;
            self.push_text(self.at, begins, tag.trims_before);
            self.at = begins + tag.length;
            self.trims = tag.trims_after;
            self.check(&tag, begins)?;
            match tag.name() {
                Some(name @ ("raw" | "comment")) => self.skip_block(name, begins)?,
                _ => self.push_tag(&tag, begins)?,
            }
        }
        self.push_text(self.at, self.text.len(), false);
        match self.open.last() {
            Some((name, line)) => Err(TemplateFault {
                line: *line,
                message: format!("`{{% {name} %}}` is never closed; add `{{% end{name} %}}`"),
            }),
            None => Ok(()),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn find_tag(&self) -> Option<usize> {
        let rest = self.rest();
        let found = rest.match_indices('{');
        let mut openings = found.filter(|(at, _)| {
            rest.get(at + 1..)
                .is_some_and(|after| after.starts_with(['{', '%']))
        });
        openings.next().map(|(at, _)| self.at + at)
    }

    /// Reads the tag that begins at a place. A quoted text may hold what would end a tag.
    fn tag_at(&self, begins: usize) -> Result<Found<'a>, TemplateFault> {
        let text = self.text.get(begins..).unwrap_or_default();
        let end = if text.starts_with("{{") { "}}" } else { "%}" };
        let mut quote = None;
        for (at, c) in text.char_indices().skip(2) {
            if at > TAG_BYTES_MAX {
                break;
            }
            let ends = || text.get(at..).is_some_and(|rest| rest.starts_with(end));
            if quote.is_some() {
                quote = quote.filter(|open| *open != c);
            } else if matches!(c, '"' | '\'') {
                quote = Some(c);
            } else if ends() {
                return Ok(Found::new(text, at));
            }
        }
        let open = text.lines().next().unwrap_or_default();
        let message = format!(
            "`{}` is not closed by `{end}` within {TAG_BYTES_MAX} bytes",
            shown(open)
        );
        Err(self.fault(begins, message))
    }

    /// Keeps the text between two tags, without the white space that they take away.
    fn push_text(&mut self, from: usize, to: usize, trims_before: bool) {
        let mut text = self.text.get(from..to).unwrap_or_default();
        if self.trims {
            text = text.trim_start();
        }
        if trims_before {
            text = text.trim_end();
        }
        if !text.is_empty() {
            let number = self.texts.len().to_string();
            for part in ["{% ", TEXT, " ", &number, " %}"] {
                self.tags_text.push_str(part);
            }
            self.texts.push(text.to_owned());
        }
    }

    fn push_tag(&mut self, tag: &Found<'a>, begins: usize) -> Result<(), TemplateFault> {
        if self.tags.len() >= TAGS_MAX {
            return Err(self.fault(
                begins,
                format!("the template has more than {TAGS_MAX} tags"),
            ));
        }
        self.tags.push(Tag {
            line: self.line(begins),
            begins: self.tags_text.len(),
            text: tag.text.to_owned(),
        });
        // the text beside it is trimmed already
        self.tags_text.push_str(tag.opening);
        self.tags_text.push_str(tag.inner);
        self.tags_text.push_str(tag.closing);
        Ok(())
    }

    /// Checks a tag, and the blocks that it opens or closes.
    fn check(&mut self, tag: &Found<'a>, begins: usize) -> Result<(), TemplateFault> {
        if let Some(message) = tag.fault() {
            return Err(self.fault(begins, message));
        }
        let Some(name) = tag.name() else {
            return Ok(());
        };
        if BLOCKS.contains(&name) {
            if self.open.len() >= DEPTH_MAX {
                let message = format!("blocks are nested more than {DEPTH_MAX} levels deep");
                return Err(self.fault(begins, message));
            }
            self.open.push((name, self.line(begins)));
            return Ok(());
        }
        let Some(closed) = name
            .strip_prefix("end")
            .filter(|closed| BLOCKS.contains(closed))
        else {
            return match self.open.last() {
                None if INSIDE.contains(&name) => {
                    Err(self.fault(begins, format!("`{{% {name} %}}` is outside of any block")))
                }
                _ => Ok(()),
            };
        };
        match self.open.pop() {
            Some((open, _)) if open == closed => Ok(()),
            Some((open, line)) => {
                let message = format!(
                    "`{{% {name} %}}` closes no block; `{{% {open} %}}` of line {line} is open"
                );
                Err(self.fault(begins, message))
            }
            None => Err(self.fault(begins, format!("`{{% {name} %}}` closes no block"))),
        }
    }

    /// Takes what is in a `raw` block as text, and leaves out what is in a `comment`.
    fn skip_block(&mut self, name: &str, begins: usize) -> Result<(), TemplateFault> {
        let end = format!("end{name}");
        let from = self.at;
        let mut at = from;
        while let Some(found) = self.text.get(at..).and_then(|rest| rest.find("{%")) {
            let begins = at + found;
            at = begins + 2;
            let Some(length) = self.text.get(at..).and_then(|rest| rest.find("%}")) else {
                break;
            };
            let closing = Found::new(self.text.get(begins..).unwrap_or_default(), length + 2);
            if closing.inner.trim() == end {
                if name == "raw" {
                    self.push_text(from, begins, closing.trims_before);
                }
                self.trims = closing.trims_after;
                self.at = begins + closing.length;
                return Ok(());
            }
        }
        let message = format!("`{{% {name} %}}` is never closed; add `{{% {end} %}}`");
        Err(self.fault(begins, message))
    }

    fn line(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        self.first_line + before.bytes().filter(|byte| *byte == b'\n').count()
    }

    fn fault(&self, at: usize, message: String) -> TemplateFault {
        TemplateFault {
            line: self.line(at),
            message,
        }
    }
}
