//! Flags of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::output::Paging;

const HEADING: &str = "Global options";

/// Flags that every command takes, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = HEADING)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that a person types"
)]
pub(crate) struct GlobalArgs {
    /// Run as if started in this folder
    #[arg(
        short = 'C',
        long = "directory",
        value_name = "DIR",
        global = true,
        display_order = 100
    )]
    pub(crate) directory: Option<PathBuf>,

    /// Use this configuration file; overrides `SYMPHONY_CONFIG`
    #[arg(long, value_name = "FILE", global = true, display_order = 101)]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true, display_order = 102)]
    pub(crate) json: bool,

    /// Print only the result
    #[arg(
        short,
        long,
        global = true,
        display_order = 103,
        conflicts_with = "verbose"
    )]
    pub(crate) quiet: bool,

    /// Show more detail on standard error; repeat it to show everything
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 104)]
    pub(crate) verbose: u8,

    /// When to use colours; `NO_COLOR` is honoured
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        display_order = 105,
        default_value = "auto",
        hide_default_value = true,
        value_parser = ["auto", "always", "never"]
    )]
    pub(crate) color: String,

    /// Do not use colours; the same as `--color never`
    #[arg(
        long = "no-color",
        global = true,
        display_order = 106,
        conflicts_with = "color"
    )]
    pub(crate) no_color: bool,

    /// Do not use a pager; by default `PAGER` or `less` shows long output on a terminal
    #[arg(long = "no-pager", global = true, display_order = 107)]
    pub(crate) no_pager: bool,
}

impl GlobalArgs {
    /// Reads the flags that say which project is meant out of arguments that are not parsed yet; what follows `--` is text.
    pub(crate) fn naming_the_place(arguments: &[OsString]) -> Self {
        let end = arguments.iter().position(|argument| argument == "--");
        let arguments = arguments
            .get(..end.unwrap_or(arguments.len()))
            .unwrap_or_default();
        let value = |short: Option<&str>, long: &str| {
            arguments.iter().enumerate().find_map(|(at, argument)| {
                let text = argument.to_str()?;
                if text == long || Some(text) == short {
                    return arguments.get(at + 1).map(PathBuf::from);
                }
                let joined = text
                    .strip_prefix(long)
                    .and_then(|rest| rest.strip_prefix('='));
                let attached = short.and_then(|short| text.strip_prefix(short));
                joined.or(attached).map(PathBuf::from)
            })
        };
        Self {
            directory: value(Some("-C"), "--directory"),
            config: value(None, "--config"),
            json: false,
            quiet: false,
            verbose: 0,
            color: String::new(),
            no_color: false,
            no_pager: true,
        }
    }

    /// Returns whether long answers may go through a pager.
    pub(crate) const fn paging(&self) -> Paging {
        if self.no_pager {
            Paging::Never
        } else {
            Paging::Auto
        }
    }

    /// Returns the choice of colours for all of the process.
    pub(crate) fn colours(&self) -> anstream::ColorChoice {
        match self.color.as_str() {
            _ if self.no_color => anstream::ColorChoice::Never,
            "always" => anstream::ColorChoice::Always,
            "never" => anstream::ColorChoice::Never,
            _ => anstream::ColorChoice::Auto,
        }
    }
}
