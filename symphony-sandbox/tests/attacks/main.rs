//! Attacks of an agent on the person who runs it, at each level of protection, with real processes and a real kernel.
//!
//! Each row is run at `off`, where it must succeed, which shows that the attack is right; then at `landlock` and at
//! `namespace`, where it must be refused, unless [`table`] says that it is left. Rows whose name starts with `control`
//! are normal work and must succeed everywhere.
//!
//! As root the program starts itself again as an ordinary user: a sandbox that holds against root's files only because
//! they are root's shows nothing.

#![expect(clippy::disallowed_methods, reason = "tests start what they attack")]

mod fixture;
mod ordinary;
mod probed;
mod proxied;
mod row;
mod table;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use symphony_sandbox::{CONFINE_COMMAND, Level, PROBE_COMMAND};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == CONFINE_COMMAND => return symphony_sandbox::confine(words),
        Some(word) if word == PROBE_COMMAND => return symphony_sandbox::probe_inside(words),
        _ => {}
    }
    if let Some(code) = ordinary::again_as_an_ordinary_user() {
        return code;
    }
    let arguments = Arguments::from_args();
    let names = row::names();
    let template = Arc::new(fixture::Template::new());
    let mut trials: Vec<Trial> = names
        .iter()
        .flat_map(|name| Level::ALL.map(|level| (name.clone(), level)))
        .map(|(name, level)| {
            let template = Arc::clone(&template);
            Trial::test(format!("{level}::{name}"), move || {
                row::check(&name, level, &template).map_err(Into::into)
            })
        })
        .collect();
    trials.push(Trial::test("the_probe_finds_what_the_rows_need", || {
        probed::check().map_err(Into::into)
    }));
    trials.push(Trial::test(
        "a_program_starts_with_its_way_out_only",
        || proxied::check().map_err(Into::into),
    ));
    trials.push(Trial::test(
        "the_table_names_only_attacks_that_exist",
        move || table::check(&names).map_err(Into::into),
    ));
    libtest_mimic::run(&arguments, trials).exit_code()
}
