//! From a file's text to a contract, with every problem at once.

use super::artifact_path::ArtifactPath;
use super::model::{
    ArtifactType, CONTRACT_VERSION, PhaseContract, StructuralCheck, Validation, ValidationMode,
};
use crate::agent::AgentType;
use crate::front_matter::{FrontMatter, Node, Problem, Reader, Step};
use crate::id::PhaseName;
use crate::nearest::nearest;
use crate::profile::ModelChoice;

const FIELDS: &[&str] = &[
    "phase",
    "contract_version",
    "dispatch_profile",
    "artifact_type",
    "artifact_path",
    "required_sections",
    "done_when",
    "validation",
    "next_phase",
    "escalate_if",
    "model",
    "skippable",
];

const CHECKS: &[&str] = &[
    "artifact_exists",
    "required_sections",
    "min_words",
    "write_scope",
];

const CHECK_EXPECTED: &str =
    "one of artifact_exists, required_sections, `min_words: N`, write_scope";

/// Most words that `min_words` may ask for.
const WORDS_MAX: u32 = 100_000;

/// Parses a contract. `file` is how messages name it; its stem must be the phase.
///
/// # Errors
/// All problems of the file, in its order.
pub fn parse_contract(file: &str, text: &str) -> Result<PhaseContract, Vec<Problem>> {
    let matter = FrontMatter::parse(file, text).map_err(|problem| vec![*problem])?;
    let mut reader = Reader::new(&matter, FIELDS);
    let phase = read_phase(&mut reader, file);
    read_version(&mut reader);
    let dispatch_profile = reader.parsed("dispatch_profile", "the type of a profile", |text| {
        AgentType::parse(text).ok()
    });
    reader.require("dispatch_profile", "the type of a profile");
    let artifact_type = reader.choice("artifact_type", ArtifactType::NAMES, |text| {
        ArtifactType::parse(text).ok()
    });
    reader.require("artifact_type", "`document` or `code`");
    let artifact_path = read_artifact_path(&mut reader);
    let required_sections = reader.texts("required_sections").unwrap_or_default();
    let done_when = reader.texts("done_when").unwrap_or_default();
    let escalate_if = reader.texts("escalate_if").unwrap_or_default();
    let mut validation = read_validation(&mut reader);
    let next_phase = read_next(&mut reader);
    let model = ModelChoice::read(&mut reader);
    let skippable = reader.boolean("skippable").unwrap_or(false);
    reader.require_body();
    if let (Some(phase), Some(artifact_type)) = (&phase, artifact_type) {
        check_together(&mut reader, phase, artifact_type);
    }
    if validation.is_none() && artifact_path.is_some() {
        validation = Some(Validation {
            mode: ValidationMode::Structural,
            structural_checks: StructuralCheck::DEFAULT.to_vec(),
        });
    }
    check_scope(&mut reader, artifact_path.as_ref(), validation.as_ref());
    let problems = reader.finish();
    match (phase, dispatch_profile, artifact_type) {
        (Some(phase), Some(dispatch_profile), Some(artifact_type)) if problems.is_empty() => {
            Ok(PhaseContract {
                phase,
                contract_version: CONTRACT_VERSION,
                dispatch_profile,
                artifact_type,
                artifact_path,
                required_sections,
                done_when,
                validation,
                next_phase,
                escalate_if,
                model,
                skippable,
                body: matter.body().to_owned(),
            })
        }
        _ => Err(problems),
    }
}

fn read_phase(reader: &mut Reader<'_>, file: &str) -> Option<PhaseName> {
    let phase = reader.parsed("phase", "a phase name (kebab-case)", |text| {
        PhaseName::parse(text).ok()
    });
    reader.require("phase", "the phase's name, which is also the file's");
    let stem = file.rsplit('/').next().unwrap_or(file);
    let stem = stem.strip_suffix(".md").unwrap_or(stem);
    if let Some(phase) = &phase
        && phase.as_str() != stem
    {
        reader.unexpected(
            "phase",
            &[],
            format!("`{phase}`"),
            &format!("`{stem}`, the name of the file"),
            None,
        );
    }
    phase
}

fn read_version(reader: &mut Reader<'_>) {
    if let Some(version) = reader.integer("contract_version", 1, u32::MAX)
        && version > CONTRACT_VERSION
    {
        reader.unexpected(
            "contract_version",
            &[],
            format!("the number {version}"),
            &format!("at most {CONTRACT_VERSION}, the newest form this version of Symphony knows"),
            None,
        );
    }
    reader.require("contract_version", &format!("`{CONTRACT_VERSION}`"));
}

fn read_artifact_path(reader: &mut Reader<'_>) -> Option<ArtifactPath> {
    let text = reader.text("artifact_path")?;
    match ArtifactPath::parse(text.trim()) {
        Ok(path) => Some(path),
        Err(error) => {
            let found = Node::Text(text.to_owned()).described();
            reader.unexpected("artifact_path", &[], found, &error.to_string(), None);
            None
        }
    }
}

fn read_next(reader: &mut Reader<'_>) -> Option<PhaseName> {
    let parsed = reader.parsed(
        "next_phase",
        "a phase name (kebab-case) or `none`",
        |text| {
            if text == "none" {
                Some(None)
            } else {
                PhaseName::parse(text).ok().map(Some)
            }
        },
    );
    parsed.flatten()
}

fn read_validation(reader: &mut Reader<'_>) -> Option<Validation> {
    reader
        .nested("validation", &["mode", "structural_checks"], |inner| {
            let mode = inner.choice("mode", ValidationMode::NAMES, |text| {
                ValidationMode::parse(text).ok()
            });
            inner.require("mode", "`structural`, `judge` or `trust`");
            let checks = read_checks(inner);
            mode.map(|mode| Validation {
                mode,
                structural_checks: checks.unwrap_or_else(|| StructuralCheck::DEFAULT.to_vec()),
            })
        })
        .flatten()
}

fn read_checks(reader: &mut Reader<'_>) -> Option<Vec<StructuralCheck>> {
    let node = reader.node("structural_checks")?;
    let Node::List(items) = node else {
        reader.unexpected(
            "structural_checks",
            &[],
            node.described(),
            "a list of checks",
            None,
        );
        return None;
    };
    let mut checks: Vec<StructuralCheck> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(check) = check_of(item) {
            checks.push(check);
        } else {
            let name = check_name(item);
            let nearest = nearest(name, CHECKS.iter().copied()).filter(|near| *near != name);
            let found = item.described();
            let at = [Step::Item(index)];
            reader.unexpected("structural_checks", &at, found, CHECK_EXPECTED, nearest);
        }
    }
    Some(checks)
}

/// Returns the name that an item of the list was meant to give.
fn check_name(item: &Node) -> &str {
    match item {
        Node::Text(text) => text.split(':').next().unwrap_or(text),
        Node::Mapping(entries) => match entries.first() {
            Some((Node::Text(name), _)) => name,
            _ => "",
        },
        _ => "",
    }
}

/// Reads a check: a name, or `min_words: N` as a mapping or as a text.
fn check_of(node: &Node) -> Option<StructuralCheck> {
    match node {
        Node::Text(text) => match text.trim() {
            "artifact_exists" => Some(StructuralCheck::ArtifactExists),
            "required_sections" => Some(StructuralCheck::RequiredSections),
            "write_scope" => Some(StructuralCheck::WriteScope),
            other => {
                let (name, words) = other.split_once(':')?;
                let words = words.trim().parse::<u32>().ok()?;
                (name.trim() == "min_words" && (1..=WORDS_MAX).contains(&words))
                    .then_some(StructuralCheck::MinWords(words))
            }
        },
        Node::Mapping(entries) => match entries.as_slice() {
            [(Node::Text(name), Node::Integer(words))] if name == "min_words" => {
                let words = u32::try_from(*words).ok()?;
                (1..=WORDS_MAX)
                    .contains(&words)
                    .then_some(StructuralCheck::MinWords(words))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Checks what the phase and the kind of its artifact ask of the other fields.
fn check_together(reader: &mut Reader<'_>, phase: &PhaseName, artifact_type: ArtifactType) {
    if phase.is_ready() {
        for field in ["artifact_path", "validation"] {
            if let Some(node) = reader.node(field) {
                let expected =
                    "nothing: `ready` ends with a pull request, which gates and review validate";
                reader.unexpected(field, &[], node.described(), expected, None);
            }
        }
    } else if artifact_type == ArtifactType::Document {
        reader.require(
            "artifact_path",
            "the path of the document, such as `docs/tickets/{id}/research.md`",
        );
    }
}

/// Checks that each structural check has what it checks.
fn check_scope(
    reader: &mut Reader<'_>,
    path: Option<&ArtifactPath>,
    validation: Option<&Validation>,
) {
    let checks = validation.map_or(&[][..], |validation| &validation.structural_checks);
    match path {
        Some(path) if !path.has_folder() && checks.contains(&StructuralCheck::WriteScope) => {
            reader.unexpected(
                "artifact_path",
                &[],
                format!("`{path}`"),
                "a path with a folder, since `write_scope` limits the phase to that folder",
                None,
            );
        }
        // A path that is there but wrong is reported already.
        None if !checks.is_empty() && reader.node("artifact_path").is_none() => reader.require(
            "artifact_path",
            "the path of the artifact that `structural_checks` look at",
        ),
        _ => {}
    }
}
