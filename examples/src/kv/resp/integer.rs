//! Integers as Redis accepts them: no sign but one minus, no leading zeros, no blanks, within an `i64`.

/// Reads all of `text` as an integer.
pub fn parse(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        all => (false, all),
    };
    match digits {
        [b'0'] => return (!negative).then_some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    // Counted downwards: the negative range is the larger one.
    let mut value = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_sub(i64::from(digit - b'0'))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_the_canonical_form() {
        for value in [0, 1, -1, 10, 99, i64::MAX, i64::MIN, i64::MAX - 1] {
            assert_eq!(parse(value.to_string().as_bytes()), Some(value));
        }
        for text in [
            "",
            "-",
            "+1",
            "01",
            "-0",
            " 1",
            "1 ",
            "1x",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
