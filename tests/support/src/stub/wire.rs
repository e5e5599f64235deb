//! Commands, as clients send them: lists of texts with their lengths.

/// Takes the first command out of what was said, when it is there in full.
pub(super) fn next(said: &mut Vec<u8>) -> Option<Vec<Vec<u8>>> {
    let mut rest = said.as_slice();
    let count = number(&mut rest, b'*')?;
    assert!(count > 0, "a command of no words");
    let words = (0..count).map(|_| word(&mut rest)).collect::<Option<Vec<_>>>()?;
    let used = said.len() - rest.len();
    said.drain(..used);
    Some(words)
}

fn word(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let length = number(rest, b'$')?;
    let word = rest.get(..length)?.to_vec();
    *rest = rest.get(length + 2..)?;
    Some(word)
}

/// A line such as `$3`.
fn number(rest: &mut &[u8], sign: u8) -> Option<usize> {
    let end = rest.windows(2).position(|two| two == b"\r\n")?;
    let line = &rest[..end];
    *rest = &rest[end + 2..];
    assert_eq!(line.first(), Some(&sign), "no client says {:?}", String::from_utf8_lossy(line));
    Some(std::str::from_utf8(&line[1..]).unwrap().parse().unwrap())
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn commands_come_in_any_pieces() {
        let wire = b"*2\r\n$3\r\nGET\r\n$4\r\n\r\n$1\r\n*1\r\n$4\r\nPING\r\n";
        for cut in 0..wire.len() {
            let mut commands = Vec::new();
            let mut said = Vec::new();
            for piece in [&wire[..cut], &wire[cut..]] {
                said.extend_from_slice(piece);
                while let Some(words) = next(&mut said) {
                    commands.push(words);
                }
            }
            assert!(said.is_empty());
            let expected = vec![vec![b"GET".to_vec(), b"\r\n$1".to_vec()], vec![b"PING".to_vec()]];
            assert_eq!(commands, expected, "cut at {cut}");
        }
    }
}
