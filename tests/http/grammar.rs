//! A strict reader of lists of structured fields, written from RFC 9651, section 4.2. It knows the two
//! types that the fields about rate limits have, strings and integers, and fails on all else.

/// A member of a list: a string, and its parameters in their order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) name: String,
    parameters: Vec<(String, i64)>,
}

impl Item {
    pub(crate) fn get(&self, parameter: &str) -> Option<i64> {
        self.parameters.iter().find(|(name, _)| name == parameter).map(|(_, value)| *value)
    }
}

/// The members of a list that has at least one.
pub(crate) fn list(text: &str) -> Result<Vec<Item>, String> {
    let mut input = Input { left: text.as_bytes() };
    input.skip(b" ");
    let mut members = Vec::new();
    loop {
        members.push(input.item()?);
        input.skip(b" \t");
        match input.next() {
            None => return Ok(members),
            Some(b',') => input.skip(b" \t"),
            Some(byte) => return Err(format!("{:?} after an item", char::from(byte))),
        }
        if input.left.is_empty() {
            return Err("a comma at the end".to_owned());
        }
    }
}

struct Input<'t> {
    left: &'t [u8],
}

impl Input<'_> {
    fn peek(&self) -> Option<u8> {
        self.left.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, left) = self.left.split_first()?;
        self.left = left;
        Some(*first)
    }

    fn skip(&mut self, blanks: &[u8]) {
        while self.peek().is_some_and(|byte| blanks.contains(&byte)) {
            self.next();
        }
    }

    fn item(&mut self) -> Result<Item, String> {
        let name = self.string()?;
        let mut parameters: Vec<(String, i64)> = Vec::new();
        while self.peek() == Some(b';') {
            self.next();
            self.skip(b" ");
            let key = self.key()?;
            if self.next() != Some(b'=') {
                return Err(format!("{key} has no value"));
            }
            if parameters.iter().any(|(known, _)| *known == key) {
                return Err(format!("{key} comes twice"));
            }
            parameters.push((key, self.integer()?));
        }
        Ok(Item { name, parameters })
    }

    fn string(&mut self) -> Result<String, String> {
        if self.next() != Some(b'"') {
            return Err("no string".to_owned());
        }
        let mut string = String::new();
        loop {
            match self.next() {
                Some(b'"') => return Ok(string),
                Some(b'\\') => match self.next() {
                    Some(byte @ (b'"' | b'\\')) => string.push(char::from(byte)),
                    other => return Err(format!("{other:?} after a backslash")),
                },
                Some(byte @ b' '..=b'~') => string.push(char::from(byte)),
                other => return Err(format!("{other:?} in a string")),
            }
        }
    }

    fn key(&mut self) -> Result<String, String> {
        let is_first = |byte: &u8| matches!(byte, b'a'..=b'z' | b'*');
        let mut key = String::from(char::from(self.next().filter(is_first).ok_or("no key")?));
        while let Some(byte @ (b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*')) = self.peek()
        {
            self.next();
            key.push(char::from(byte));
        }
        Ok(key)
    }

    fn integer(&mut self) -> Result<i64, String> {
        let mut digits = String::new();
        if self.peek() == Some(b'-') {
            self.next();
            digits.push('-');
        }
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            self.next();
            digits.push(char::from(byte));
        }
        if digits.trim_start_matches('-').len() > 15 {
            return Err(format!("{digits} has more than 15 digits"));
        }
        digits.parse().map_err(|_| format!("{digits:?} is no integer"))
    }
}

#[test]
fn the_grammar_is_strict() {
    let all = list(r#""a \"b\\";q=5;w=60 , "c";r=-1"#).unwrap();
    assert_eq!((&*all[0].name, all[0].get("q"), all[0].get("w")), (r#"a "b\"#, Some(5), Some(60)));
    assert_eq!((&*all[1].name, all[1].get("r"), all[1].get("q")), ("c", Some(-1), None));
    for wrong in [
        "",
        "a",
        r#""a"#,
        r#""a","#,
        r#""a";Q=1"#,
        r#""a";q"#,
        r#""a";q=1.5"#,
        r#""a";q=1;q=2"#,
        r#""é""#,
        r#""\n""#,
        r#""a" "b""#,
        r#""a";q=1234567890123456"#,
        r#""a";q="1""#,
    ] {
        assert!(list(wrong).is_err(), "{wrong}");
    }
}
