//! A design document that is too long for its share: what stands of it in the prompt.

use symphony_prompt::{HeuristicCounter, Tokens, estimate_tokens, shorten_artifact};

/// Sections of the document: a component, its declarations, and what no declaration has.
const COMPONENTS: [(&str, &str, &str); 8] = [
    (
        "Reader",
        "rust",
        "pub fn read(\n    path: &Path,\n    limit: Bytes,\n) -> Result<Document, ReadError> {",
    ),
    (
        "Cache",
        "rust",
        "pub struct Cache<K, V> {\n    entries: BTreeMap<K, V>,\n    capacity: usize,\n}",
    ),
    (
        "Client",
        "ts",
        "export const load = async (url: string): Promise<Config> => {",
    ),
    (
        "Parser",
        "python",
        "def parse(\n    text: str,\n    *,\n    strict: bool = True,\n) -> Tree:",
    ),
    (
        "Store",
        "java",
        "public Config load(Path path, Clock clock) throws IOException {",
    ),
    (
        "Queue",
        "go",
        "func (q *Queue) Push(ctx context.Context, item Item) error {",
    ),
    (
        "Schema",
        "sql",
        "CREATE TABLE runs (\n    id TEXT PRIMARY KEY,\n    issue TEXT NOT NULL\n);",
    ),
    (
        "Wire",
        "c",
        "int wire_send(struct wire *w, const char *text, size_t length);",
    ),
];

/// A design of about 6,200 tokens.
fn design() -> String {
    let components = COMPONENTS.iter().map(component);
    let head = "# Design\n\nThe import is split into parts.\n".to_owned();
    std::iter::once(head)
        .chain(components)
        .collect::<Vec<_>>()
        .join("\n")
}

fn component((name, language, declaration): &(&str, &str, &str)) -> String {
    let reasons = (1..=8).map(|number| {
        format!("Reason {number} for the {name} is weighed here at some length. ").repeat(4)
    });
    let steps = (0..45).map(|step| format!("    step_{step}(value, other);"));
    let (reasons, steps): (Vec<_>, Vec<_>) = (reasons.collect(), steps.collect());
    let (reasons, steps) = (reasons.join("\n\n"), steps.join("\n"));
    format!(
        "## {name}\n\nThe {name} is one part.\n\n{reasons}\n\n```{language}\n{declaration}\n{steps}\n```\n"
    )
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_long_design_fills_its_share_and_keeps_every_declaration() {
    let text = design();
    let whole = estimate_tokens(&text).get();
    assert!((6_000..6_400).contains(&whole), "{whole}");
    for cap in [1_000, 2_000, 4_000] {
        let short = shorten_artifact(&text, Tokens::new(cap), &HeuristicCounter::default());
        let tokens = estimate_tokens(&short).get();
        assert!(
            (cap * 95 / 100..=cap).contains(&tokens),
            "{tokens} of {cap}"
        );
        for (name, _, declaration) in COMPONENTS {
            assert!(
                short.contains(&format!("## {name}\n\nThe {name} is one part.")),
                "{name} in {cap}"
            );
            assert!(
                flat(&short).contains(&flat(declaration)),
                "{name} in {cap}:\n{short}"
            );
        }
    }
}
