//! Counts what a template reads, makes and writes, and notices variables that do not exist.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};

use liquid_core::model::{KString, KStringCow, KStringRef, ScalarCow, Value, ValueCow, ValueView};
use liquid_core::runtime::{PartialStore, Registers, Runtime};
use liquid_core::{Error, Result};

/// Longest prompt, in bytes: several times what fits into a model.
pub const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Largest value that a template may make, in bytes: as long as the longest prompt.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// Most work for one prompt, in bytes that are read or made: a second or two in the slowest case.
pub const WORK_MAX: usize = 64 << 20;
/// What each item of a list costs beside its own bytes.
const ITEM_BYTES: usize = 32;
/// Longest name of a variable that is kept for a message, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// A loop over something else than a list.
pub(super) const NO_LIST: &str = "a loop iterates over a value that is not a list";
/// A limit, an offset or an end of a range that is no number.
pub(super) const NO_NUMBER: &str = "a loop needs a whole number here";
/// `contains` of something else than a text or a list.
pub(super) const NO_CONTAINER: &str = "`contains` needs a text or a list";
/// Faults of a template that are described in our words.
pub(super) const RENDER_FAULTS: [&str; 3] = [NO_LIST, NO_NUMBER, NO_CONTAINER];

/// A limit that a template has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Work,
    Value,
    Output,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Work => f.write_str("the template takes too much work; make its loops shorter"),
            Self::Value => write!(
                f,
                "the template makes a value of more than {VALUE_BYTES_MAX} bytes; make its values shorter"
            ),
            Self::Output => write!(
                f,
                "the prompt is longer than {OUTPUT_BYTES_MAX} bytes; shorten the template"
            ),
        }
    }
}

/// What was counted so far. It is kept in the registers of liquid's runtime, which reach every tag and filter.
#[derive(Debug, Default, Clone)]
pub(super) struct Meter {
    used: usize,
    pub(super) exceeded: Option<Limit>,
    /// The first variable that does not exist.
    pub(super) unknown: Option<String>,
    /// The first filter that could not be applied.
    pub(super) refused: Option<String>,
}

/// Counts work.
///
/// # Errors
/// When there was too much.
pub(super) fn charge(runtime: &dyn Runtime, units: usize) -> Result<()> {
    let mut meter = runtime.registers().get_mut::<Meter>();
    meter.used = meter.used.saturating_add(units);
    if meter.used > WORK_MAX {
        meter.exceeded.get_or_insert(Limit::Work);
    }
    stop(&meter)
}

/// Counts a value that a template made.
///
/// # Errors
/// When it is too large, or there was too much work.
pub(super) fn charge_value(runtime: &dyn Runtime, value: &dyn ValueView) -> Result<()> {
    let size = size_of(value);
    if size > VALUE_BYTES_MAX {
        exceed(runtime, Limit::Value);
    }
    charge(runtime, size)
}

/// Notes that a limit is reached.
pub(super) fn exceed(runtime: &dyn Runtime, limit: Limit) {
    let mut meter = runtime.registers().get_mut::<Meter>();
    meter.exceeded.get_or_insert(limit);
}

/// Notes that a filter cannot be applied.
pub(super) fn refuse(runtime: &dyn Runtime, filter: &str) {
    let mut meter = runtime.registers().get_mut::<Meter>();
    meter.refused.get_or_insert_with(|| filter.to_owned());
}

/// Returns what was counted.
pub(super) fn take(runtime: &dyn Runtime) -> Meter {
    runtime.registers().get_mut::<Meter>().clone()
}

fn stop(meter: &Meter) -> Result<()> {
    match meter.exceeded {
        Some(limit) => Err(Error::with_msg(limit.to_string())),
        None => Ok(()),
    }
}

/// Returns how large a value is, in bytes.
pub(super) fn size_of(value: &dyn ValueView) -> usize {
    if let Some(array) = value.as_array() {
        let items = array.values().map(|item| ITEM_BYTES + size_of(item));
        return ITEM_BYTES + items.sum::<usize>();
    }
    if let Some(object) = value.as_object() {
        let entries = object.iter();
        let sizes = entries.map(|(name, item)| ITEM_BYTES + name.len() + size_of(item));
        return ITEM_BYTES + sizes.sum::<usize>();
    }
    match value.as_scalar() {
        Some(scalar) => 1 + scalar.to_kstr().len(),
        None => 1,
    }
}

/// A runtime that counts what is read through it, and keeps the name of a variable that is not there. Conditions ask
/// whether a variable exists and take `no` for false, so the name has to be kept here.
#[derive(Debug)]
pub(super) struct Watched<R> {
    inner: R,
}

impl<R: Runtime> Watched<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner }
    }

    /// Looks a variable up. Past the end of a list, and in an empty one, there is nothing; any other absence is an unknown
    /// variable.
    fn look_up(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        if let Some(value) = self.inner.try_get(path) {
            return Some(value);
        }
        let (last, parent) = path.split_last()?;
        let is_list = !parent.is_empty()
            && self
                .inner
                .try_get(parent)
                .is_some_and(|value| value.is_array());
        let is_place =
            last.to_integer().is_some() || matches!(last.to_kstr().as_str(), "first" | "last");
        if is_list && is_place {
            return Some(ValueCow::Owned(Value::Nil));
        }
        let names: Vec<String> = path.iter().map(|part| part.to_kstr().to_string()).collect();
        let mut name = names.join(".");
        if name.len() > NAME_BYTES_MAX {
            name = names.into_iter().next().unwrap_or_default();
        }
        let mut meter = self.registers().get_mut::<Meter>();
        meter.unknown.get_or_insert(name);
        None
    }
}

impl<R: Runtime> Runtime for Watched<R> {
    fn partials(&self) -> &dyn PartialStore {
        self.inner.partials()
    }

    fn name(&self) -> Option<KStringRef<'_>> {
        self.inner.name()
    }

    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        self.inner.roots()
    }

    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let value = self.look_up(path)?;
        charge(self, size_of(value.as_view())).ok()?;
        Some(value)
    }

    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        let value = self
            .look_up(path)
            .ok_or_else(|| Error::with_msg("unknown variable"))?;
        charge(self, size_of(value.as_view()))?;
        Ok(value)
    }

    fn set_global(&self, name: KString, value: Value) -> Option<Value> {
        self.inner.set_global(name, value)
    }

    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.inner.set_index(name, value)
    }

    fn get_index<'a>(&'a self, name: &str) -> Option<ValueCow<'a>> {
        self.inner.get_index(name)
    }

    fn registers(&self) -> &Registers {
        self.inner.registers()
    }
}

/// Collects output up to a limit.
#[derive(Debug)]
pub(super) struct BoundedWriter {
    written: Vec<u8>,
    bytes_max: usize,
    is_full: bool,
}

impl BoundedWriter {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            written: Vec::new(),
            bytes_max,
            is_full: false,
        }
    }

    pub(super) fn exceeded(&self) -> Option<Limit> {
        self.is_full.then_some(Limit::Output)
    }

    /// Returns what was written. Only whole texts are written, so nothing is lost.
    pub(super) fn into_text(self) -> String {
        String::from_utf8(self.written)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

impl Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written.len() + bytes.len() > self.bytes_max {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
