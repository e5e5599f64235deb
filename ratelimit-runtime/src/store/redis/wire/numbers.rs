//! The numbers of a reply.

use crate::algo::{MAX_COUNT, Timestamp};
use crate::error::StoreError;

/// The numbers of a state, not yet read: 8 bytes each, and none at all for a key that is not in use.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Numbers<'r>(pub(in super::super) &'r [[u8; 8]]);

impl Numbers<'_> {
    /// When the key was last charged: every state begins with that.
    pub(in super::super) fn charged_at(self) -> Option<Timestamp> {
        self.0.first().copied().map(Timestamp::from_le_bytes)
    }

    /// The numbers of a state that has this many, or `None` if the key is not in use.
    pub(super) fn exactly<const N: usize>(self) -> Result<Option<[u64; N]>, StoreError> {
        let bytes = match <&[[u8; 8]; N]>::try_from(self.0) {
            Ok(bytes) => bytes,
            Err(_) if self.0.is_empty() => return Ok(None),
            Err(_) => return Err(StoreError::Reply),
        };
        let mut numbers = [0; N];
        for (to, from) in numbers.iter_mut().zip(bytes) {
            *to = number(*from)?;
        }
        Ok(Some(numbers))
    }
}

/// A number that a script has computed with: none of them is above 2^53.
pub(super) fn number(bytes: [u8; 8]) -> Result<u64, StoreError> {
    match u64::from_le_bytes(bytes) {
        number if number <= MAX_COUNT + 1 => Ok(number),
        _ => Err(StoreError::Reply),
    }
}

/// A number as microseconds since the epoch, or between two instants.
pub(super) const fn instant(number: u64) -> Timestamp {
    number.cast_signed()
}
