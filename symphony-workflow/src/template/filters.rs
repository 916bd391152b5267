//! The standard filters of Liquid, each behind a check of what it would cost.

use std::fmt;

use liquid_core::model::{Value, ValueView};
use liquid_core::parser::FilterArguments;
use liquid_core::{Error, Expression, Filter, FilterReflection, ParseFilter, Result, Runtime};
use liquid_lib::stdlib;

use super::date::DateFilter;
use super::meter::{charge, charge_value, refuse, size_of};

/// Largest number that a filter takes: the product of two of them still fits, where liquid's arithmetic would panic.
const NUMBER_MAX: i64 = 1 << 31;
/// Longest form of a date, in bytes.
const DATE_FORM_BYTES_MAX: usize = 64;
/// Most digits of a width in the form of a date: a width is filled with blanks or zeros.
const DATE_WIDTH_DIGITS_MAX: usize = 2;

/// How much a filter does and makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// About as much as its input and its arguments.
    Sum,
    /// Up to its input times its arguments, such as a replacement of every character.
    Product,
    /// It compares each item with each other.
    Pairs,
    /// It calculates.
    Number,
    /// It takes a part, by numbers.
    Part,
    /// It writes a date.
    Date,
}

/// Returns all filters.
pub(super) fn filters() -> Vec<Box<dyn ParseFilter>> {
    use Growth::{Date, Number, Pairs, Part, Product, Sum};
    let with = |growth, filter: Box<dyn ParseFilter>| -> Box<dyn ParseFilter> {
        Box::new(Metered { filter, growth })
    };
    vec![
        with(Number, Box::new(stdlib::Abs)),
        with(Sum, Box::new(stdlib::Append)),
        with(Number, Box::new(stdlib::AtLeast)),
        with(Number, Box::new(stdlib::AtMost)),
        with(Sum, Box::new(stdlib::Capitalize)),
        with(Number, Box::new(stdlib::Ceil)),
        with(Sum, Box::new(stdlib::Compact)),
        with(Sum, Box::new(stdlib::Concat)),
        with(Date, Box::new(DateFilter)),
        with(Sum, Box::new(stdlib::Default)),
        with(Number, Box::new(stdlib::DividedBy)),
        with(Sum, Box::new(stdlib::Downcase)),
        with(Sum, Box::new(stdlib::Escape)),
        with(Sum, Box::new(stdlib::EscapeOnce)),
        with(Sum, Box::new(stdlib::First)),
        with(Number, Box::new(stdlib::Floor)),
        with(Product, Box::new(stdlib::Join)),
        with(Sum, Box::new(stdlib::Last)),
        with(Sum, Box::new(stdlib::Lstrip)),
        with(Sum, Box::new(stdlib::Map)),
        with(Number, Box::new(stdlib::Minus)),
        with(Number, Box::new(stdlib::Modulo)),
        with(Sum, Box::new(stdlib::NewlineToBr)),
        with(Number, Box::new(stdlib::Plus)),
        with(Sum, Box::new(stdlib::Prepend)),
        with(Sum, Box::new(stdlib::Remove)),
        with(Sum, Box::new(stdlib::RemoveFirst)),
        with(Product, Box::new(stdlib::Replace)),
        with(Sum, Box::new(stdlib::ReplaceFirst)),
        with(Sum, Box::new(stdlib::Reverse)),
        with(Number, Box::new(stdlib::Round)),
        with(Sum, Box::new(stdlib::Rstrip)),
        with(Sum, Box::new(stdlib::Size)),
        with(Part, Box::new(stdlib::Slice)),
        with(Sum, Box::new(stdlib::Sort)),
        with(Sum, Box::new(stdlib::SortNatural)),
        with(Sum, Box::new(stdlib::Split)),
        with(Sum, Box::new(stdlib::Strip)),
        with(Sum, Box::new(stdlib::StripHtml)),
        with(Sum, Box::new(stdlib::StripNewlines)),
        with(Number, Box::new(stdlib::Times)),
        with(Part, Box::new(stdlib::Truncate)),
        with(Part, Box::new(stdlib::TruncateWords)),
        with(Pairs, Box::new(stdlib::Uniq)),
        with(Sum, Box::new(stdlib::Upcase)),
        with(Sum, Box::new(stdlib::UrlDecode)),
        with(Sum, Box::new(stdlib::UrlEncode)),
        with(Sum, Box::new(stdlib::Where)),
    ]
}

#[derive(Clone)]
struct Metered {
    filter: Box<dyn ParseFilter>,
    growth: Growth,
}

impl ParseFilter for Metered {
    fn parse(&self, arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        let positional: Vec<Expression> = arguments.positional.collect();
        let keyword: Vec<(&str, Expression)> = arguments.keyword.collect();
        let named = keyword.iter().map(|(_, value)| value);
        let expressions = positional.iter().chain(named).cloned().collect();
        let filter = self.filter.parse(FilterArguments {
            positional: Box::new(positional.into_iter()),
            keyword: Box::new(keyword.into_iter()),
        })?;
        Ok(Box::new(Counted {
            name: self.filter.reflection().name().to_owned(),
            filter,
            growth: self.growth,
            arguments: expressions,
        }))
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self.filter.reflection()
    }
}

#[derive(Debug)]
struct Counted {
    name: String,
    filter: Box<dyn Filter>,
    growth: Growth,
    arguments: Vec<Expression>,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Filter for Counted {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        let mut bytes = 0_usize;
        for argument in &self.arguments {
            let argument = argument.evaluate(runtime)?;
            let argument = argument.as_view();
            if matches!(self.growth, Growth::Number | Growth::Part) {
                self.check(argument, runtime)?;
            }
            bytes = bytes.saturating_add(size_of(argument));
        }
        if self.growth == Growth::Number {
            self.check(input, runtime)?;
        }
        if self.growth == Growth::Date {
            self.check_date(input, runtime)?;
        }
        charge(runtime, self.cost(input, bytes))?;
        let value = self.filter.evaluate(input, runtime);
        let value = value.inspect_err(|_| refuse(runtime, &self.name))?;
        charge_value(runtime, &value)?;
        Ok(value)
    }
}

impl Counted {
    fn cost(&self, input: &dyn ValueView, arguments: usize) -> usize {
        let size = size_of(input);
        match self.growth {
            Growth::Product => (size + 1).saturating_mul(arguments + 1),
            Growth::Pairs => {
                let items = input.as_array().map_or(1, |array| array.values().count());
                size.saturating_add(items.saturating_mul(items))
                    .saturating_add(arguments)
            }
            Growth::Sum | Growth::Number | Growth::Part | Growth::Date => {
                size.saturating_add(arguments)
            }
        }
    }

    /// Refuses a number with which liquid's arithmetic would panic.
    fn check(&self, value: &dyn ValueView, runtime: &dyn Runtime) -> Result<()> {
        let number = value.as_scalar().and_then(|value| value.to_integer());
        if number.is_some_and(|number| !(-NUMBER_MAX..=NUMBER_MAX).contains(&number)) {
            return self.refused(runtime);
        }
        Ok(())
    }

    /// Refuses the words that would read the clock, and forms that would write endless blanks.
    fn check_date(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<()> {
        let word = input.to_kstr().trim().to_lowercase();
        if matches!(word.as_str(), "now" | "today") {
            return self.refused(runtime);
        }
        for form in &self.arguments {
            let form = form.evaluate(runtime)?.to_kstr().into_owned();
            let digits = form
                .split(|c: char| !c.is_ascii_digit())
                .map(str::len)
                .max();
            if form.len() > DATE_FORM_BYTES_MAX || digits > Some(DATE_WIDTH_DIGITS_MAX) {
                return self.refused(runtime);
            }
        }
        Ok(())
    }

    fn refused(&self, runtime: &dyn Runtime) -> Result<()> {
        refuse(runtime, &self.name);
        Err(Error::with_msg("refused"))
    }
}
