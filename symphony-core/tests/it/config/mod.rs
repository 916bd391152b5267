//! The configuration as a whole: keys, messages, layers, generated texts, and no panic.

mod acp;
mod forge;
mod generated;
mod keys;
mod layers;
mod messages;
mod prop;
mod sandbox;
mod trackers;
mod workers;

use std::path::PathBuf;

use serde_json::Value;
use symphony_core::config::{
    ConfigDocument, ConfigProblem, Effective, FileInput, FileRole, Layer, Place, Position,
    Positions, ProjectConfig, Source, parse_file,
};

/// Checks a value as a project's own file, without positions.
fn project_file(value: &Value) -> (ConfigDocument, Vec<ConfigProblem>) {
    file(value, FileRole::Project)
}

fn file(value: &Value, role: FileRole) -> (ConfigDocument, Vec<ConfigProblem>) {
    let positions = Positions::default();
    parse_file(&FileInput {
        value,
        role,
        file: "f.json",
        positions: &positions,
    })
}

/// Reads a project's own file, as the only layer; returns the configuration with all problems.
fn resolved(file: &Value) -> (ProjectConfig, Vec<String>) {
    let (document, problems) = project_file(file);
    let layer = Layer {
        source: Source::Database,
        settings: &document.top,
    };
    let place = Place {
        root: PathBuf::from("/src/my-api"),
        home: None,
    };
    let (project, more) = Effective::resolve(&[layer], place).project_config();
    let problems = problems.iter().chain(&more).map(ToString::to_string);
    (project, problems.collect())
}

/// The problems of a value as lines.
fn problems(value: &Value, role: FileRole) -> String {
    let lines: Vec<String> = file(value, role)
        .1
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.join("\n")
}

const fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}
