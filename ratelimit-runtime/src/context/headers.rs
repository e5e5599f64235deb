//! The headers of a request.

/// Names in lower case.
#[derive(Default)]
pub(super) struct Headers {
    list: Vec<(Box<str>, Vec<u8>)>,
    /// Those of a request that came in these types; cheaper to keep than to convert.
    #[cfg(feature = "tower")]
    map: http::HeaderMap,
}

impl Headers {
    pub(super) fn add(&mut self, name: &str, value: Vec<u8>) {
        self.list.push((name.to_lowercase().into(), value));
    }

    /// The first with this name.
    pub(super) fn get(&self, name: &str) -> Option<&[u8]> {
        #[cfg(feature = "tower")]
        if let Some(value) = self.map.get(name) {
            return Some(value.as_bytes());
        }
        self.list.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }
}

#[cfg(feature = "tower")]
impl From<http::HeaderMap> for Headers {
    fn from(map: http::HeaderMap) -> Self {
        Self { list: Vec::new(), map }
    }
}
