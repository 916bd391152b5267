//! A budget for somebody else's chat tool: its own prompt, shared out and cut by Symphony's rules.
//!
//! The tool shares 300 tokens between a system text, the conversation and a document; nobody is over their share.

use symphony_prompt::{Shares, SharesRow, TokenCounter, Tokens, strip_hidden, truncate_head, truncate_tail};

/// This tool's own counter: words, because its model's tokenizer is not at hand.
struct WordCounter;

impl TokenCounter for WordCounter {
    fn count(&self, text: &str) -> Tokens {
        Tokens::new(text.split_whitespace().count() as u64)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The shares must add up to 100, or this is an error that says what they add up to.
    let shares = Shares::new(SharesRow {
        description: 20,
        diff: 0,
        findings: 0,
        learnings: 30,
        comments: 50,
        previous_output: 0,
    })?;
    let caps = shares.caps(Tokens::new(300));

    let system = "You answer questions about the manual. ".repeat(20);
    let manual = "Chapter one. Press the red button to begin. ".repeat(200);
    let turns: Vec<String> = (1..40).map(|n| format!("user: question {n}, with a few more words\u{200b}")).collect();

    // Of a conversation the end matters, of a document the beginning.
    let parts = [
        ("system", caps.description, truncate_head(&system, caps.description, &WordCounter)),
        ("manual", caps.learnings, truncate_head(&manual, caps.learnings, &WordCounter)),
    ];
    let conversation = turns.join("\n");
    let visible = strip_hidden(&conversation);
    let recent = truncate_tail(&visible, caps.comments, &WordCounter);

    for (name, cap, text) in &parts {
        println!("{name}: {} of at most {cap} words", WordCounter.count(text));
    }
    println!("conversation: {} of at most {} words, from:\n{recent}", WordCounter.count(&recent), caps.comments);
    assert!(parts.iter().all(|(_, cap, text)| WordCounter.count(text) <= *cap));
    assert!(WordCounter.count(&recent) <= caps.comments);
    Ok(())
}
