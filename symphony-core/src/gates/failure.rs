//! The identity of a failure: the red gates, and what they print.

use std::fmt;

use super::output::normal_lines;
use crate::pull_request::{VerifiedGate, VerifiedGates};

/// The fingerprint of a failure of gates: equal for two runs that failed in the same way.
///
/// A 128-bit FNV-1a hash (Fowler, Noll, Vo) over the red required gates in their order: the name,
/// how each ended, and the lines that do not differ from run to run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailurePrint(String);

impl FailurePrint {
    /// Takes a print that was stored.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FailurePrint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Returns the fingerprint of a failure; `None` if every required gate passed. `folders` are the places the gates ran
/// in.
pub fn failure_print(gates: &VerifiedGates, folders: &[&str]) -> Option<FailurePrint> {
    let mut hash = Hash::default();
    let mut is_red = false;
    for gate in gates.red() {
        is_red = true;
        hash.add(&gate.name);
        hash.add(&how(gate));
        for line in normal_lines(&gate.output, folders) {
            hash.add(&line);
        }
    }
    is_red.then(|| FailurePrint(format!("{:032x}", hash.0)))
}

fn how(gate: &VerifiedGate) -> String {
    gate.exit_code
        .map_or_else(|| "ended".to_owned(), |code| code.to_string())
}

/// FNV-1a with 128 bits.
struct Hash(u128);

impl Default for Hash {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Hash {
    /// Adds a text and its end, so that two texts are not one long one.
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}
