//! The head of a request: its method, its path and its headers.

/// All of it in one piece of memory, which is copied from whatever types a framework has: cheaper than
/// a clone of a map of headers, and than to keep the memory of the whole connection.
///
/// A list of names and values, behind their lengths. Names are in lower case.
#[derive(Default)]
pub(crate) struct Head {
    bytes: Vec<u8>,
}

// What stands beside the headers is called as in HTTP/2, and so as no header can be.
const METHOD: &str = ":method";
const PATH: &str = ":path";
const ROUTE: &str = ":route";

impl Head {
    /// With room for so many headers, which are so long in all.
    #[cfg(feature = "tower")]
    pub(crate) fn with_room(
        headers: usize,
        bytes: usize,
        method: &str,
        path: &str,
        route: Option<&str>,
    ) -> Self {
        // The two lengths before a name and its value.
        let lengths = size_of::<u64>();
        let mut ours = 2 * lengths + METHOD.len() + method.len() + PATH.len() + path.len();
        if let Some(route) = route {
            ours += lengths + ROUTE.len() + route.len();
        }
        let mut head = Self { bytes: Vec::with_capacity(headers * lengths + ours + bytes) };
        head.push(METHOD, method.as_bytes());
        head.push(PATH, path.as_bytes());
        if let Some(route) = route {
            head.push(ROUTE, route.as_bytes());
        }
        head
    }

    /// Adds a header; of several with one name the first counts.
    pub(crate) fn push(&mut self, name: &str, value: &[u8]) {
        // No server reads that much; what does not fit is not there.
        let lengths = u32::try_from(name.len()).ok().zip(u32::try_from(value.len()).ok());
        if let Some((of_name, of_value)) = lengths {
            let lengths = u64::from(of_name) << 32 | u64::from(of_value);
            self.bytes.extend_from_slice(&lengths.to_ne_bytes());
            self.bytes.extend_from_slice(name.as_bytes());
            self.bytes.extend_from_slice(value);
        }
    }

    pub(super) fn set_method(&mut self, method: &str) {
        self.replace(METHOD, method);
    }

    pub(super) fn set_path(&mut self, path: &str) {
        self.replace(PATH, path);
    }

    pub(super) fn set_route(&mut self, route: &str) {
        self.replace(ROUTE, route);
    }

    fn replace(&mut self, name: &str, value: &str) {
        let old = std::mem::take(self);
        for (known, value) in old.pairs().filter(|(known, _)| *known != name) {
            self.push(known, value);
        }
        self.push(name, value.as_bytes());
    }

    pub(super) fn method(&self) -> Option<&str> {
        std::str::from_utf8(self.get(METHOD)?).ok()
    }

    pub(super) fn path(&self) -> Option<&str> {
        std::str::from_utf8(self.get(PATH)?).ok()
    }

    pub(super) fn route(&self) -> Option<&str> {
        std::str::from_utf8(self.get(ROUTE)?).ok()
    }

    /// The first header with this name.
    pub(super) fn get(&self, name: &str) -> Option<&[u8]> {
        self.pairs().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut rest = &*self.bytes;
        std::iter::from_fn(move || {
            let (lengths, behind) = rest.split_first_chunk()?;
            let lengths = u64::from_ne_bytes(*lengths);
            let (name, behind) = behind.split_at_checked(length(lengths >> 32))?;
            let (value, behind) = behind.split_at_checked(length(lengths & u64::from(u32::MAX)))?;
            rest = behind;
            Some((std::str::from_utf8(name).ok()?, value))
        })
    }
}

fn length(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_there() {
        let mut head = Head::default();
        assert_eq!((head.method(), head.path(), head.get("a")), (None, None, None));
        head.push("a", b"1");
        head.set_path("/x");
        head.push("a", b"2");
        head.push("b", b"");
        head.push("", b"\xff");
        head.set_method("GET");
        head.set_path("/y");
        assert_eq!((head.method(), head.path()), (Some("GET"), Some("/y")));
        assert_eq!((head.get("a"), head.get("b")), (Some(&b"1"[..]), Some(&b""[..])));
        assert_eq!((head.get(""), head.get("A"), head.get("aa")), (Some(&b"\xff"[..]), None, None));
    }

    #[cfg(feature = "tower")]
    #[test]
    fn the_room_is_exact() {
        for route in [None, Some("/{id}")] {
            let mut head = Head::with_room(2, 6, "GET", "/", route);
            let room = head.bytes.capacity();
            head.push("a", b"12");
            head.push("bc", b"3");
            assert_eq!((head.bytes.len(), head.bytes.capacity()), (room, room));
            assert_eq!(head.route(), route);
        }
    }
}
