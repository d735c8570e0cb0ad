//! Patterns of `KEYS`, `SCAN .. MATCH` and `CONFIG GET`: `*`, `?`, `[a-z]`, `[^a]` and `\` as Redis reads them.
//!
//! Only the last `*` is ever tried again, so the time is bounded by pattern × text: there is no pattern that takes for ever.

/// Whether `text` matches `pattern` as a whole.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on when the rest does not fit: after the last star, one byte of text further than the last time.
    let mut retry = None;
    loop {
        if p < pattern.len() && pattern[p] == b'*' {
            p += 1;
            retry = Some((p, t));
            continue;
        }
        if t == text.len() {
            return p == pattern.len();
        }
        if let Some(next) = one(pattern, p, text[t]) {
            (p, t) = (next, t + 1);
            continue;
        }
        match &mut retry {
            None => return false,
            Some((after_star, from)) => {
                *from += 1;
                (p, t) = (*after_star, *from);
            }
        }
    }
}

/// Matches one byte with the element of the pattern at `p`, and answers where the next element begins.
fn one(pattern: &[u8], p: usize, byte: u8) -> Option<usize> {
    match *pattern.get(p)? {
        b'?' => Some(p + 1),
        b'[' => class(pattern, p + 1, byte),
        b'\\' if p + 1 < pattern.len() => (pattern[p + 1] == byte).then_some(p + 2),
        literal => (literal == byte).then_some(p + 1),
    }
}

/// The same for a class, whose first byte after the bracket is at `p`. A class that is not closed ends with the pattern.
fn class(pattern: &[u8], mut p: usize, byte: u8) -> Option<usize> {
    let negated = pattern.get(p) == Some(&b'^');
    p += usize::from(negated);
    let mut found = false;
    loop {
        match (pattern.get(p), pattern.get(p + 1), pattern.get(p + 2)) {
            (None, ..) => break,
            (Some(b'\\'), Some(&escaped), _) => {
                found |= escaped == byte;
                p += 2;
            }
            (Some(b']'), ..) => {
                p += 1;
                break;
            }
            (Some(&a), Some(b'-'), Some(&b)) => {
                found |= (a.min(b)..=a.max(b)).contains(&byte);
                p += 3;
            }
            (Some(&literal), ..) => {
                found |= literal == byte;
                p += 1;
            }
        }
    }
    (found != negated).then_some(p)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn as_redis_reads_them() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("a*c", "abbbc", true),
            ("a*c", "abbb", false),
            ("a**c", "ac", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h[ae]llo", "hallo", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("h[a-c]llo", "hdllo", false),
            ("h\\?llo", "h?llo", true),
            ("h\\?llo", "hello", false),
            ("[\\]]", "]", true),
            ("[abc", "c", true),
            ("[]", "a", false),
            ("a\\", "a\\", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxcxxb", false),
            ("k*1", "k11", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_pattern_by_text() {
        let pattern = b"a*".repeat(1_000);
        let text = b"a".repeat(1_000);
        assert!(matches(&pattern, &text));
        assert!(!matches(&[&pattern[..], b"b"].concat(), &text));
    }
}
