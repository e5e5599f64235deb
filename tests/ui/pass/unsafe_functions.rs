// An unsafe function stays one, and so does the place where it is called.

#![deny(unsafe_op_in_unsafe_fn)]

use ratelimit_kit::rate_limit;

/// # Safety
///
/// `number` must be valid.
#[rate_limit(key = "'one'", capacity = 1, refill = 1)]
unsafe fn read(number: *const u8) -> Option<u8> {
    Some(unsafe { *number })
}

/// # Safety
///
/// `number` must be valid until the future is polled.
#[rate_limit(capacity = 1, refill = 1)]
unsafe fn later(number: *const u8) -> impl Future<Output = Option<u8>> {
    let number = unsafe { *number };
    std::future::ready(Some(number))
}

fn main() {
    let _ = unsafe { later(&1) };
    let number = 5;
    assert_eq!(unsafe { read(&number) }, Some(5));
    assert_eq!(unsafe { read(&number) }, None);
}
