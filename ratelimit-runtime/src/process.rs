//! What belongs to one process, and does not survive a fork.
//!
//! A fork copies the memory and takes no thread along: a task that lives on one is dead in the
//! child, its locks may be held for ever, and its sockets are still the parent's.

use std::fmt;
use std::mem::ManuallyDrop;

use once_cell::race::OnceBox;
use once_cell::sync::OnceCell;

/// A value for each process: the child of a fork makes one of its own, and never touches the
/// parent's, not even to drop it.
///
/// A list, of which each generation of forks adds an element. The list itself has no lock, so none
/// can be held when a process forks.
pub(crate) struct PerProcess<T> {
    first: OnceBox<Element<T>>,
}

struct Element<T> {
    process: u32,
    value: OnceCell<ManuallyDrop<T>>,
    next: OnceBox<Self>,
}

/// A system call each time: nothing cheaper knows of a fork without unsafe code.
fn id() -> u32 {
    // Others do not fork, and to ask some of them for an id is a panic.
    if cfg!(unix) { std::process::id() } else { 1 }
}

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self { first: OnceBox::new() }
    }

    /// The value of this process, made at its first use.
    pub(crate) fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let process = id();
        let new = || Box::new(Element { process, value: OnceCell::new(), next: OnceBox::new() });
        let mut element = self.first.get_or_init(new);
        while element.process != process {
            element = element.next.get_or_init(new);
        }
        element.value.get_or_try_init(|| make().map(ManuallyDrop::new)).map(|value| &**value)
    }
}

impl<T> Drop for Element<T> {
    fn drop(&mut self) {
        if self.process == id()
            && let Some(value) = self.value.take()
        {
            drop(ManuallyDrop::into_inner(value));
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.first.get().and_then(|first| first.value.get())).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug)]
    struct Counted<'c>(&'c AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_value_of_another_process_is_neither_used_nor_dropped() {
        let (mine, other) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let values = PerProcess::new();
        let element = Element { process: 0, value: OnceCell::new(), next: OnceBox::new() };
        let value = ManuallyDrop::new(Counted(&other));
        assert!(element.value.set(value).is_ok() && values.first.set(Box::new(element)).is_ok());
        for _ in 0..2 {
            let made = values.get_or_try_init(|| Ok::<_, Infallible>(Counted(&mine))).unwrap();
            assert!(std::ptr::eq(made.0, &raw const mine));
        }
        drop(values);
        assert_eq!((mine.into_inner(), other.into_inner()), (1, 0));
    }
}
