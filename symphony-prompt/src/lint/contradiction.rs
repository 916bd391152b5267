//! Orders of a project's own texts that contradict how Symphony's agents work.
//!
//! Each rule is a handful of word patterns at the beginning of a clause. Some text does not address agents and is not checked:
//! code blocks, quotes and comments, what is below a heading about releases or people, and sentences that apply only to people
//! or only when someone asks.

use super::finding::{Finding, LintRule};
use super::order::{Pattern, is_negated, matched, mentions, order, prohibition};
use super::prose::{Sentence, sentences};
use super::text::{PromptText, TextKind};

/// Words in a heading that show that the text below it is not for agents.
const OTHERS: [&str; 14] = [
    "release",
    "releases",
    "releasing",
    "deploy",
    "deploying",
    "deployment",
    "publish",
    "publishing",
    "maintainer",
    "maintainers",
    "human",
    "humans",
    "contributors",
    "people",
];

/// Words in a sentence that limit it to people, or to being asked.
const LIMITS: [&str; 14] = [
    "asked",
    "asks",
    "requested",
    "request",
    "human",
    "humans",
    "maintainer",
    "maintainers",
    "person",
    "people",
    "manually",
    "if",
    "tag",
    "release",
];

/// Whether a rule is about what a text asks for, or about what it forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    /// It asks for it.
    Asks,
    /// It asks for it, also where it limits itself to a case.
    AsksEver,
    /// It forbids it.
    Forbids,
}

/// Orders that contradict one way in which agents work.
#[derive(Debug)]
struct Rule {
    sense: Sense,
    patterns: &'static [Pattern],
    /// How agents work.
    fact: &'static str,
    advice: &'static str,
}

/// What follows a command that is an order by itself, and not the subject of a sentence.
const AFTER: &str = "$ at after before once when to with";

const PEOPLE: &str = "say that it is for people, or remove it from the texts for agents";

const RULES: [Rule; 7] = [
    Rule {
        sense: Sense::Asks,
        patterns: &[
            &["push", "?your the all these this", "branch commit commits"],
            &["push", "your", "?local", "changes work code"],
            &[
                "push",
                "?it them",
                "to",
                "?the",
                "origin github gitlab remote upstream",
            ],
            &["run use execute", "git", "push"],
            &["git", "push", "?-u", "?origin", "?head", AFTER],
        ],
        fact: "agents never push",
        advice: "leave it out: Symphony runs the command in `publish` for each opened pull request",
    },
    Rule {
        sense: Sense::Asks,
        patterns: &[
            &["run use execute", "gh glab", "pr mr", "create"],
            &["gh glab", "pr mr", "create", "?--fill", AFTER],
            &[
                "open create submit raise make",
                "?a an the your",
                "pr",
                "with using via",
                "gh glab hub",
            ],
            &[
                "open create submit raise make",
                "?a an the your",
                "pull merge",
                "request",
                "with using via",
                "gh glab hub",
            ],
        ],
        fact: "agents hand in their work with the tool `create_pr`",
        advice: "leave it out: the command in `publish` opens a pull request elsewhere",
    },
    Rule {
        sense: Sense::Asks,
        patterns: &[
            &["merge", "your the", "pr mr"],
            &["merge", "your the", "pull merge", "request"],
            &["merge", "your", "branch changes work", "?in", "into to"],
            &[
                "merge",
                "?it",
                "into to",
                "?the",
                "main master develop trunk",
            ],
            &["run use execute", "gh glab", "pr mr", "merge"],
            &["gh glab", "pr mr", "merge", "?--squash --auto", AFTER],
        ],
        fact: "agents never merge: a person does, after gates and review",
        advice: PEOPLE,
    },
    Rule {
        sense: Sense::Asks,
        patterns: &[
            &[
                "create make start open cut",
                "a",
                "?new separate fresh",
                "?feature topic",
                "branch",
                "for from off before $",
            ],
            &["work", "on", "a", "new feature separate", "branch"],
            &["run use execute", "git", "checkout switch", "-b -c"],
            &["git", "checkout switch", "-b -c", "?*", AFTER],
        ],
        fact: "each agent has a branch and a worktree of its own, and leaves other branches alone",
        advice: PEOPLE,
    },
    Rule {
        sense: Sense::AsksEver,
        patterns: &[
            &["ask", "me"],
            &[
                "ask",
                "the",
                "user maintainer developer",
                "$ before first if whether",
            ],
            &[
                "ask",
                "the",
                "user maintainer developer",
                "for",
                "confirmation approval permission clarification",
            ],
            &[
                "ask",
                "for",
                "?my explicit",
                "confirmation approval permission clarification",
            ],
            &["ask", "before"],
            &["ask", "first", "$"],
            &[
                "wait",
                "for",
                "?my the",
                "?user user's explicit",
                "confirmation approval permission",
            ],
            &["check", "with", "me"],
            &[
                "get request",
                "?my explicit",
                "confirmation approval permission",
                "before first from",
            ],
        ],
        fact: "an agent has no one to ask",
        advice: "say what to do without an answer: decide and say so in the `approach` finding, or set the status to `blocked`",
    },
    Rule {
        sense: Sense::Forbids,
        patterns: &[
            &["commit", "$ yourself automatically unless"],
            &[
                "commit",
                "?or",
                "?push",
                "?any your the",
                "changes code work anything",
                "$ yourself automatically unless",
            ],
            &["commit", "or", "push", "$ unless yourself automatically"],
            &[
                "commit",
                "?anything",
                "without",
                "?being",
                "asking asked permission approval explicit",
            ],
            &["create make", "?git any", "commits", "$ unless yourself"],
        ],
        fact: "only what an agent commits is handed in",
        advice: PEOPLE,
    },
    Rule {
        sense: Sense::Forbids,
        patterns: &[&["write add run", "?any the", "?unit", "tests", "$ unless"]],
        fact: "agents test what they change, and judges check that",
        advice: "leave it out, or name the tests that it is about",
    },
];

/// Reports orders of CLAUDE.md, WORKFLOW.md, instructions and overrides that contradict how agents work.
pub(super) fn contradictions(text: &PromptText<'_>, body: &str, first_line: usize) -> Vec<Finding> {
    let is_own = matches!(
        text.kind,
        TextKind::ClaudeMd | TextKind::WorkflowMd | TextKind::Instructions(_) | TextKind::Override
    );
    if !is_own {
        return Vec::new();
    }
    let mut found = Vec::new();
    for sentence in sentences(body, first_line) {
        if sentence.section.split_whitespace().any(is_others) {
            continue;
        }
        for (rule, line, words) in hits(&sentence) {
            let what = format!("`{words}`: {}", rule.fact);
            found.push(LintRule::Contradiction.warning(text, line, what, rule.advice));
        }
    }
    found
}

fn is_others(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    OTHERS.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Returns the rules that a sentence breaks, each with the line and the words.
fn hits(sentence: &Sentence<'_>) -> Vec<(&'static Rule, usize, String)> {
    let mut hits = Vec::new();
    let is_limited = is_negated(&sentence.clauses) || mentions(sentence, &LIMITS);
    for clause in &sentence.clauses {
        for rule in &RULES {
            let words = match rule.sense {
                Sense::Asks if is_limited => continue,
                // "when you are not sure, ask me" asks all the same
                Sense::AsksEver if is_negated(std::slice::from_ref(clause)) => continue,
                Sense::Asks | Sense::AsksEver => order(clause),
                Sense::Forbids => prohibition(clause).unwrap_or_default(),
            };
            let hit = rule
                .patterns
                .iter()
                .find_map(|pattern| matched(pattern, words));
            if let (Some(hit), Some(first)) = (hit, words.first()) {
                let verb = if rule.sense == Sense::Forbids {
                    "do not "
                } else {
                    ""
                };
                hits.push((rule, first.line, format!("{verb}{hit}")));
            }
        }
    }
    hits
}
