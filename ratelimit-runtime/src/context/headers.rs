//! The headers of a request.

/// Names in lower case.
#[derive(Default)]
pub(super) struct Headers {
    list: Vec<(Box<str>, Vec<u8>)>,
}

impl Headers {
    pub(super) fn add(&mut self, name: &str, value: Vec<u8>) {
        self.list.push((name.to_lowercase().into(), value));
    }

    /// The first with this name.
    pub(super) fn get(&self, name: &str) -> Option<&[u8]> {
        self.list.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }
}
