//! The filter `date`. liquid's own reads no ISO 8601, which is how trackers write moments, and knows the word `now`.

use std::fmt::{self, Write as _};

use liquid_core::model::{Value, ValueView};
use liquid_core::parser::{FilterArguments, ParameterReflection};
use liquid_core::{Error, Expression, Filter, FilterReflection, ParseFilter, Result, Runtime};
use symphony_core::Timestamp;

/// `{{ issue.created_at | date: "%Y-%m-%d" }}`, in UTC. A value that is no moment is left as it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct DateFilter;

impl FilterReflection for DateFilter {
    fn name(&self) -> &'static str {
        "date"
    }

    fn description(&self) -> &'static str {
        "Formats a time."
    }

    fn positional_parameters(&self) -> &'static [ParameterReflection] {
        &[ParameterReflection {
            name: "form",
            description: "The format, as in strftime.",
            is_optional: false,
        }]
    }

    fn keyword_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
}

impl ParseFilter for DateFilter {
    fn parse(&self, mut arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        let form = arguments.positional.next();
        let has_more = arguments.positional.next().is_some() || arguments.keyword.next().is_some();
        match form.filter(|_| !has_more) {
            Some(form) => Ok(Box::new(Date { form })),
            None => Err(Error::with_msg("`date` takes one argument, the format")),
        }
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self
    }
}

#[derive(Debug)]
struct Date {
    form: Expression,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "date: {}", self.form)
    }
}

impl Filter for Date {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        let form = self.form.evaluate(runtime)?.to_kstr().into_owned();
        let Ok(moment) = input.to_kstr().trim().parse::<Timestamp>() else {
            return Ok(input.to_value());
        };
        let mut written = String::new();
        // a form that does not exist is an error here, and would be a panic of `to_string`
        match write!(written, "{}", moment.strftime(&form)) {
            Ok(()) => Ok(Value::scalar(written)),
            Err(fmt::Error) => Err(Error::with_msg("no such format of a date")),
        }
    }
}
