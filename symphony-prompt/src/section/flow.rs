//! What one part of a prompt leaves of its share goes to those that were cut.

use symphony_core::unit::Tokens;

use crate::section::SectionDraft;
use crate::tokens::TokenCounter;

/// Room that is not worth another try, as a part of the whole: the smallest unit of most sections is larger.
const ROOM_PART: u64 = 20;

/// Tokens of a fence, about.
const FENCE_TOKENS: u64 = 30;

/// What the items of a list take when nothing is cut, about: each with its fence.
pub(crate) fn need_of_list<'t>(
    items: impl Iterator<Item = &'t str>,
    counter: &dyn TokenCounter,
) -> Tokens {
    let counted = items.map(|text| counter.count(text) + Tokens::new(FENCE_TOKENS));
    counted.sum()
}

/// A section with a share of the budget.
pub(crate) struct Shared<'d, 'a> {
    /// Its share.
    pub(crate) cap: Tokens,
    /// What it takes when nothing is cut, about.
    pub(crate) need: Tokens,
    /// Drafts it with at most this many tokens.
    pub(crate) draft: Box<dyn Fn(Tokens) -> SectionDraft<'a> + 'd>,
}

/// What may be taken of a budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total {
    /// All of it: at least the sum of the shares.
    pub(crate) tokens: Tokens,
    /// Whether what some leave goes to those that were cut.
    pub(crate) pass_on: bool,
}

/// Drafts sections with their shares, and returns them with the room that no one took.
///
/// Those that need no more than their share come first. What they leave is given to the others, in their order, each of which has its
/// own share at least. Together they never take more than `total`.
pub(crate) fn draft_shared<'a>(
    parts: &[Shared<'_, 'a>],
    total: Total,
) -> (Vec<SectionDraft<'a>>, Tokens) {
    let mut drafts: Vec<Option<SectionDraft<'a>>> = parts.iter().map(|_| None).collect();
    let mut left = total.tokens.get();
    let mut reserved: u64 = parts.iter().map(|part| part.cap.get()).sum();
    for is_long in [false, true] {
        for (part, slot) in parts.iter().zip(&mut drafts) {
            if (part.need > part.cap) != is_long {
                continue;
            }
            let extra = if is_long && total.pass_on {
                left.saturating_sub(reserved)
            } else {
                0
            };
            let draft = (part.draft)(Tokens::new(part.cap.get() + extra));
            left = left.saturating_sub(draft.fit.used.get());
            reserved -= part.cap.get();
            *slot = Some(draft);
        }
    }
    // A list that has no room for its next item leaves some to a text before it.
    for (part, slot) in parts.iter().zip(&mut drafts) {
        if !total.pass_on || left <= total.tokens.get() / ROOM_PART {
            break;
        }
        let Some(draft) = slot.as_mut().filter(|draft| draft.fit.cut.is_some()) else {
            continue;
        };
        let room = left + draft.fit.used.get();
        *draft = (part.draft)(Tokens::new(room));
        left = room.saturating_sub(draft.fit.used.get());
    }
    (drafts.into_iter().flatten().collect(), Tokens::new(left))
}
