//! Pure ranking of learnings: normalise, deduplicate, score, split.
