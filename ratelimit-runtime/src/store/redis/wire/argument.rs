//! A check as bytes.

use smallvec::SmallVec;

/// A letter, and at most seven numbers of 8 bytes.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Argument(SmallVec<[u8; 64]>);

impl Argument {
    pub(super) fn new(letter: u8) -> Self {
        let mut bytes = SmallVec::new();
        bytes.push(letter);
        Self(bytes)
    }

    pub(super) fn add(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(in super::super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
