//! Says which of a few texts another covers, without deciding all the others.
//!
//! Only every q-th stretch of q bytes of the big buffer is looked at: an occurrence of a pattern of at least 2q − 1
//! bytes always holds one of them whole, at one of q neighbouring places in the pattern, and those are in a table.

use std::cmp::Ordering;

use super::limits::Limits;
use super::sought::{Gram, Sought};
use crate::automaton::{self, Occurrence, PATTERN_BYTES_MAX};
use crate::texts::{NONE, Texts, small, wide};

/// Stretches of a candidate among which the rarest are chosen.
const STRETCHES_MAX: usize = 256;

/// Stretches of the texts that tell which are rare: few against a scan, many against what a candidate is compared with.
const SAMPLES: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Open,
    Stays,
    Covered,
}

struct Candidate {
    number: u32,
    verdict: Verdict,
}

struct Search<'a, P> {
    texts: &'a Texts,
    /// In byte order of their texts; equal ones in order of preference.
    candidates: Vec<Candidate>,
    prefer: P,
    steps: u64,
    steps_max: u64,
}

/// Says for each of some texts (by number) whether another contains it, or equals it and comes first in `prefer`.
/// Returns the numbers of those that are covered, sorted.
pub(crate) fn covered(
    texts: &Texts,
    numbers: &[u32],
    limits: Limits,
    prefer: impl Fn(u32, u32) -> Ordering,
) -> Vec<u32> {
    let mut search = Search::new(texts, numbers, limits, prefer);

    search.by_strides::<16>(31..usize::MAX);
    search.by_strides::<8>(15..31);
    search.by_strides::<4>(7..15);
    search.by_automaton();
    let mut covered: Vec<u32> = search
        .candidates
        .iter()
        .filter(|candidate| candidate.verdict == Verdict::Covered)
        .map(|candidate| candidate.number)
        .collect();
    covered.sort_unstable();
    covered
}

impl<'a, P: Fn(u32, u32) -> Ordering> Search<'a, P> {
    fn new(texts: &'a Texts, numbers: &[u32], limits: Limits, prefer: P) -> Self {
        let text = |number: u32| texts.get(wide(number));
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(|&a, &b| text(a).cmp(text(b)).then_with(|| prefer(a, b)));
        let mut candidates: Vec<Candidate> = Vec::with_capacity(sorted.len());
        for number in sorted {
            let repeats = candidates
                .last()
                .is_some_and(|before| text(before.number) == text(number));
            let verdict = if repeats {
                Verdict::Covered
            } else {
                Verdict::Open
            };
            candidates.push(Candidate { number, verdict });
        }
        Self {
            texts,
            candidates,
            prefer,
            steps: 0,
            steps_max: limits.steps_max(texts.bytes().len()),
        }
    }

    /// Decides the candidates of these lengths (at least `2 * Q - 1`) unless the steps run out.
    fn by_strides<const Q: usize>(&mut self, lengths: std::ops::Range<usize>) {
        let mut sought = Sought::new(self.grams::<Q>(&lengths));
        if sought.is_empty() {
            return;
        }
        let (stretches, _) = self.texts.bytes().as_chunks::<Q>();
        for (number, stretch) in stretches.iter().enumerate() {
            let mut decided = 0;
            for gram in sought.same(load(stretch)) {
                if self.compare(gram, number * Q) {
                    decided += Q;
                }
            }
            if decided > 0 {
                sought.note_decided(decided, |gram| self.is_open(gram.candidate));
                if sought.is_empty() {
                    return;
                }
            }
            if self.steps > self.steps_max {
                return;
            }
        }
        for candidate in &mut self.candidates {
            let length = self.texts.get(wide(candidate.number)).len();
            if candidate.verdict == Verdict::Open && lengths.contains(&length) {
                candidate.verdict = Verdict::Stays;
            }
        }
    }

    /// Lists Q neighbouring stretches of each candidate: those that are rare in a sample of the texts.
    fn grams<const Q: usize>(&self, lengths: &std::ops::Range<usize>) -> Vec<Gram> {
        let mut grams = Vec::new();
        for (place, candidate) in self.candidates.iter().enumerate() {
            let text = self.texts.get(wide(candidate.number));
            if candidate.verdict == Verdict::Open && lengths.contains(&text.len()) {
                let stretches = text.array_windows::<Q>().take(STRETCHES_MAX).enumerate();
                grams.extend(stretches.map(|(offset, stretch)| Gram {
                    word: load(stretch),
                    candidate: place,
                    offset,
                }));
            }
        }
        let sought = Sought::new(grams);
        let counts = self.sample::<Q>(&sought);
        let mut counted: Vec<(Gram, u32)> = sought.grams().iter().copied().zip(counts).collect();
        counted.sort_unstable_by_key(|(gram, _)| (gram.candidate, gram.offset));
        let mut chosen = Vec::new();
        for of_candidate in counted.chunk_by(|a, b| a.0.candidate == b.0.candidate) {
            let common =
                |run: &&[(Gram, u32)]| run.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
            let rarest = of_candidate.windows(Q).min_by_key(common);
            chosen.extend(rarest.unwrap_or_default().iter().map(|(gram, _)| *gram));
        }
        chosen
    }

    /// Counts how often stretches occur among some of the stretches that will be looked at.
    fn sample<const Q: usize>(&self, sought: &Sought) -> Vec<u32> {
        let mut counts = vec![0; sought.grams().len()];
        let (stretches, _) = self.texts.bytes().as_chunks::<Q>();
        let apart = stretches.len() / SAMPLES + 1;
        for stretch in stretches.iter().step_by(apart) {
            // Equal stretches share the first one's count: where all are equal, counting each would take their square.
            let first = sought.first(load(stretch));
            if let Some(count) = first.and_then(|first| counts.get_mut(first)) {
                *count += 1;
            }
        }
        let equal = sought.grams().windows(2).map(|pair| match pair {
            [before, gram] => before.word == gram.word,
            _ => false,
        });
        for (place, equal) in equal.enumerate() {
            if let (true, Some([first, count])) = (equal, counts.get_mut(place..place + 2)) {
                *count = *first;
            }
        }
        counts
    }

    fn is_open(&self, candidate: usize) -> bool {
        let candidate = self.candidates.get(candidate);
        candidate.is_some_and(|candidate| candidate.verdict == Verdict::Open)
    }

    /// Compares the candidate of a stretch with what lies round the same stretch in the texts. Returns whether that decides it.
    fn compare(&mut self, gram: &Gram, place: usize) -> bool {
        self.steps += 1;
        let Some(candidate) = self.candidates.get_mut(gram.candidate) else {
            return false;
        };
        if candidate.verdict != Verdict::Open {
            return false;
        }
        let pattern = self.texts.get(wide(candidate.number));
        let Some(start) = place.checked_sub(gram.offset) else {
            return false;
        };
        let found = self.texts.bytes().get(start..start + pattern.len());
        self.steps += pattern.len() as u64 / 16;
        if found != Some(pattern) {
            return false;
        }
        let (reader, reader_start, reader_end) = self.texts.around(start);
        let whole = reader_end - reader_start == pattern.len();
        let number = small(reader);
        let covers = if whole {
            (self.prefer)(number, candidate.number) == Ordering::Less
        } else {
            start + pattern.len() <= reader_end
        };
        if covers {
            candidate.verdict = Verdict::Covered;
        }
        covers
    }

    /// Decides what is still open by reading all texts once. Linear whatever they hold.
    fn by_automaton(&mut self) {
        let open: Vec<u32> = self
            .candidates
            .iter()
            .zip(0..)
            .filter(|(candidate, _)| candidate.verdict == Verdict::Open)
            .map(|(_, place)| place)
            .collect();
        let numbers: Vec<u32> = self.candidates.iter().map(|c| c.number).collect();
        let number = |place: u32| numbers.get(wide(place)).copied().unwrap_or(NONE);
        let texts = self.texts;
        let text = |place: u32| texts.get(wide(number(place)));
        let mut left = open.len();
        let mut covered = vec![false; self.candidates.len()];
        automaton::in_batches(&open, PATTERN_BYTES_MAX, text, |mut automaton| {
            for reader in 0..texts.len() {
                // Short texts are mostly found soon, all of them.
                if left == 0 {
                    return;
                }
                automaton.scan(texts.get(reader), |place, found| {
                    let reader = small(reader);
                    let covers = found == Occurrence::Part
                        || (self.prefer)(reader, number(place)) == Ordering::Less;
                    if let (Some(covered), true) = (covered.get_mut(wide(place)), covers)
                        && !*covered
                    {
                        *covered = true;
                        left -= 1;
                    }
                });
            }
        });
        for (candidate, covered) in self.candidates.iter_mut().zip(covered) {
            if covered {
                candidate.verdict = Verdict::Covered;
            }
        }
    }
}

/// Makes a number of a stretch: the stretch itself up to 8 bytes, else a hash.
fn load<const Q: usize>(stretch: &[u8; Q]) -> u64 {
    stretch.chunks(8).fold(0, |hash, bytes| {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        let mixed = hash.wrapping_mul(0xD6E8_FEB8_6659_FD93_u64);
        (mixed ^ (mixed >> 32)) ^ u64::from_le_bytes(word)
    })
}

#[cfg(test)]
mod tests {
    use super::super::limits::LIMITS;
    use super::*;

    #[test]
    fn a_text_that_occurs_often_is_compared_until_it_is_decided() {
        let mut texts = Texts::default();
        for text in ["common part", "another one"] {
            texts.push(text.as_bytes());
        }
        for _ in 0..10_000 {
            texts.push(b"the common part of all");
        }
        let mut search = Search::new(&texts, &[0, 1], LIMITS, |a: u32, b| a.cmp(&b));
        search.by_strides::<4>(7..15);
        let verdicts = search.candidates.iter().map(|c| (c.number, c.verdict));
        assert_eq!(
            verdicts.collect::<Vec<_>>(),
            [(1, Verdict::Stays), (0, Verdict::Covered)]
        );
        assert!(search.steps < 100, "{}", search.steps);
    }
}
