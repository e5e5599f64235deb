//! Who one is to a server.

/// A user and a password.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Login {
    pub(crate) fn new(user: &str, password: &str) -> Self {
        Self { user: user.to_owned(), password: password.to_owned() }
    }

    /// In front of the host of a URL.
    pub(crate) fn credentials(&self) -> String {
        format!("{}:{}@", encoded(&self.user), encoded(&self.password))
    }

    /// At the end of a URL that has no host.
    pub(crate) fn query(&self) -> String {
        format!("?user={}&pass={}", encoded(&self.user), encoded(&self.password))
    }

    /// At the end of a URL whose login is another one's.
    pub(crate) fn sentinel_query(&self) -> String {
        let (user, password) = (encoded(&self.user), encoded(&self.password));
        format!("?sentinel_user={user}&sentinel_password={password}")
    }

    /// What makes this user, who may do everything, and shuts out those who are nobody: lines of
    /// a configuration, in words.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        let mut lines = vec![user(&self.user, &self.password, "~* &* +@all")];
        if self.user != "default" {
            lines.push(["user", "default", "off"].map(str::to_owned).into());
        }
        lines
    }
}

/// The line of a configuration, in words, that makes a user.
pub(crate) fn user(name: &str, password: &str, rules: &str) -> Vec<String> {
    let password = format!(">{password}");
    let words = ["user", name, "on", &password];
    words.into_iter().chain(rules.split_whitespace()).map(str::to_owned).collect()
}

/// As a part of a URL.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}
