//! CPU numbers, written the way the kernel writes them.

use std::fmt;

/// Shows ascending CPU numbers as ranges: `0-3,8`. Numbers in another order keep it: `3,1`.
pub(crate) struct CpuList<'a>(pub(crate) &'a [usize]);

impl fmt::Display for CpuList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (n, run) in self.0.chunk_by(|a, b| a.checked_add(1) == Some(*b)).enumerate() {
            let comma = if n == 0 { "" } else { "," };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [only] => write!(f, "{comma}{only}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CpuList;

    #[test]
    fn lists_read_like_the_kernels() {
        for (cpus, text) in [
            (&[][..], "none"),
            (&[0], "0"),
            (&[0, 1], "0-1"),
            (&[0, 1, 2, 3, 8], "0-3,8"),
            (&[1, 3, 5, 6], "1,3,5-6"),
            (&[3, 1], "3,1"),
            (&[usize::MAX, 0], "18446744073709551615,0"),
        ] {
            assert_eq!(CpuList(cpus).to_string(), text);
        }
    }
}
