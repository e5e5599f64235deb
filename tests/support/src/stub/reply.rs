//! Answers of a stub.

/// What a [`Stub`](crate::Stub) does with a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// What a server says to commands that set up a connection (`HELLO`, `AUTH`, `CLIENT`,
    /// `SELECT`, `PING`, `INFO`), and to any other that it does not know it.
    Usual,
    /// These bytes, whatever they are.
    Raw(Vec<u8>),
    /// Nothing, neither to this command nor to a later one of its connection: answers come in
    /// the order of commands, so the next one would be taken for this one's.
    Silence,
    /// The end of the connection.
    Close,
}

impl Reply {
    /// A short text, such as `OK`.
    pub fn simple(text: &str) -> Self {
        Self::Raw(format!("+{text}\r\n").into_bytes())
    }

    /// An error: its code, a blank, and words.
    pub fn error(text: &str) -> Self {
        Self::Raw(format!("-{text}\r\n").into_bytes())
    }

    /// A whole number.
    pub fn integer(number: i64) -> Self {
        Self::Raw(format!(":{number}\r\n").into_bytes())
    }

    /// A text of any length and content.
    pub fn bulk(text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let mut bytes = format!("${}\r\n", text.len()).into_bytes();
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(b"\r\n");
        Self::Raw(bytes)
    }

    /// A list of replies, each of them with bytes.
    pub fn array(items: impl IntoIterator<Item = Self>) -> Self {
        let items: Vec<Self> = items.into_iter().collect();
        let mut bytes = format!("*{}\r\n", items.len()).into_bytes();
        for item in items {
            let Self::Raw(item) = item else { panic!("{item:?} cannot be in a list") };
            bytes.extend_from_slice(&item);
        }
        Self::Raw(bytes)
    }

    /// The bytes to send, none of them for silence; `None` to end the connection.
    pub(super) fn bytes(self, words: &[Vec<u8>]) -> Option<Vec<u8>> {
        match self {
            Self::Usual => usual(words).bytes(words),
            Self::Raw(bytes) => Some(bytes),
            Self::Silence => Some(Vec::new()),
            Self::Close => None,
        }
    }
}

fn usual(words: &[Vec<u8>]) -> Reply {
    match words[0].to_ascii_uppercase().as_slice() {
        b"HELLO" => hello(words.get(1).is_some_and(|version| version == b"3")),
        b"AUTH" | b"CLIENT" | b"SELECT" => Reply::simple("OK"),
        b"PING" => Reply::simple("PONG"),
        b"INFO" => Reply::bulk("# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n"),
        other => {
            let name = String::from_utf8_lossy(other);
            Reply::error(&format!("ERR unknown command '{}'", name.escape_default()))
        }
    }
}

fn hello(version_3: bool) -> Reply {
    let fields = [
        ("server", Reply::bulk("redis")),
        ("version", Reply::bulk("7.0.0")),
        ("proto", Reply::integer(if version_3 { 3 } else { 2 })),
        ("id", Reply::integer(1)),
        ("mode", Reply::bulk("standalone")),
        ("role", Reply::bulk("master")),
        ("modules", Reply::array([])),
    ];
    let count = fields.len();
    let list =
        Reply::array(fields.into_iter().flat_map(|(name, value)| [Reply::bulk(name), value]));
    match list {
        // A map is a list of twice its length under another name.
        Reply::Raw(bytes) if version_3 => {
            let listed = format!("*{}\r\n", count * 2);
            let mut map = format!("%{count}\r\n").into_bytes();
            map.extend_from_slice(&bytes[listed.len()..]);
            Reply::Raw(map)
        }
        list => list,
    }
}
