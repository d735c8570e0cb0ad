//! Inline commands: a line of words, as typed into telnet. A line is rewritten as the frame that it stands for, so that
//! everything behind sees one shape only.

use super::ProtocolError;
use bytes::{BufMut, BytesMut};

/// Appends the frame that `line` stands for to `out`. A line without words appends nothing.
///
/// # Errors
///
/// A quote is not closed, or something follows a closing one at once.
pub fn rewrite(line: &[u8], out: &mut BytesMut) -> Result<bool, ProtocolError> {
    let words = split(line)?;
    if words.is_empty() {
        return Ok(false);
    }
    let mut digits = itoa::Buffer::new();
    out.put_u8(b'*');
    out.put_slice(digits.format(words.len()).as_bytes());
    for word in words {
        out.put_slice(b"\r\n$");
        out.put_slice(digits.format(word.len()).as_bytes());
        out.put_slice(b"\r\n");
        out.put_slice(&word);
    }
    out.put_slice(b"\r\n");
    Ok(true)
}

fn split(line: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
    let mut rest = line;
    let mut words = Vec::new();
    loop {
        while let [first, tail @ ..] = rest
            && is_space(*first)
        {
            rest = tail;
        }
        if rest.is_empty() {
            return Ok(words);
        }
        words.push(word(&mut rest)?);
    }
}

/// Takes one word off the front: parts with and without quotes, up to a blank.
fn word(rest: &mut &[u8]) -> Result<Vec<u8>, ProtocolError> {
    let mut word = Vec::new();
    while let [first, tail @ ..] = *rest {
        match first {
            b'"' | b'\'' => {
                *rest = tail;
                quoted(rest, *first, &mut word)?;
                // A closing quote ends the word.
                return match rest.first() {
                    Some(next) if !is_space(*next) => Err(ProtocolError::Quotes),
                    _ => Ok(word),
                };
            }
            blank if is_space(*blank) => break,
            other => {
                word.push(*other);
                *rest = tail;
            }
        }
    }
    Ok(word)
}

/// Reads up to the closing `quote`, whose opening one has been taken.
fn quoted(rest: &mut &[u8], quote: u8, word: &mut Vec<u8>) -> Result<(), ProtocolError> {
    loop {
        let (byte, tail) = match *rest {
            [] => return Err(ProtocolError::Quotes),
            [b'\\', b'x', high, low, tail @ ..] if quote == b'"' && hex(*high).is_some() && hex(*low).is_some() => {
                (hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0), tail)
            }
            [b'\\', escaped, tail @ ..] if quote == b'"' => (unescape(*escaped), tail),
            [b'\\', b'\'', tail @ ..] if quote == b'\'' => (b'\'', tail),
            [byte, tail @ ..] if *byte == quote => {
                *rest = tail;
                return Ok(());
            }
            [byte, tail @ ..] => (*byte, tail),
        };
        word.push(byte);
        *rest = tail;
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
        split(line)
    }

    #[test]
    fn words_quotes_and_escapes() {
        for (line, expected) in [
            (&b"PING\r\n"[..], &[&b"PING"[..]][..]),
            (b"\r\n", &[]),
            (b"  set  a\tb \r\n", &[b"set", b"a", b"b"]),
            (b"set 'a b' \"\\x41\\n\\q\"\n", &[b"set", b"a b", b"A\nq"]),
            (b"set 'it\\'s' \"\"\n", &[b"set", b"it's", b""]),
            (b"\"\\xzz\"\n", &[b"xzz"]),
            (b"pre\"fix ed\"\n", &[b"prefix ed"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{}", line.escape_ascii());
        }
        for line in [&b"GET \"a\r\n"[..], b"GET 'a\n", b"GET \"a\"b\n", b"GET 'a\\'\n"] {
            assert_eq!(words(line), Err(ProtocolError::Quotes), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn rewritten_as_a_frame() {
        let mut out = BytesMut::new();
        assert_eq!(rewrite(b"set a 'b c'\r\n", &mut out), Ok(true));
        assert_eq!(rewrite(b"\r\n", &mut out), Ok(false));
        assert_eq!(out, "*3\r\n$3\r\nset\r\n$1\r\na\r\n$3\r\nb c\r\n");
    }
}
