//! Bytes of a key or a value: short ones in place, long ones by reference.
//!
//! Most keys and many values are short. In place they cost no allocation, no reference count that two cores fight for, and
//! no second cache line to read.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};

use bytes::{Bytes, BytesMut};

/// The longest content that is held in place; chosen so that a [`Blob`] has no padding.
const IN_PLACE: usize = 38;

/// An immutable string of bytes.
#[derive(Clone)]
pub struct Blob(Repr);

#[derive(Clone)]
enum Repr {
    Short { len: u8, bytes: [u8; IN_PLACE] },
    Long(Bytes),
}

impl Blob {
    /// Copies `bytes`.
    pub fn copy_from(bytes: &[u8]) -> Self {
        Self::short(bytes).unwrap_or_else(|| Self(Repr::Long(Bytes::copy_from_slice(bytes))))
    }

    /// Takes `bytes` without copying, unless they are short: then what they were cut out of is released.
    pub fn adopt(bytes: Bytes) -> Self {
        Self::short(&bytes).unwrap_or(Self(Repr::Long(bytes)))
    }

    /// The content with `tail` behind it. Nobody else holding the content, it grows in place, with room for more: a value
    /// that is appended to again and again is not copied each time.
    pub fn append(self, tail: &[u8]) -> Self {
        let mut grown = match self.0 {
            Repr::Short { len, bytes } => {
                let head = &bytes[..usize::from(len)];
                if let Some(short) = Self::short_of(&[head, tail]) {
                    return short;
                }
                let mut grown = BytesMut::with_capacity(2 * (head.len() + tail.len()));
                grown.extend_from_slice(head);
                grown
            }
            Repr::Long(bytes) => bytes.try_into_mut().unwrap_or_else(|shared| {
                let mut grown = BytesMut::with_capacity(2 * (shared.len() + tail.len()));
                grown.extend_from_slice(&shared);
                grown
            }),
        };
        grown.extend_from_slice(tail);
        Self(Repr::Long(grown.freeze()))
    }

    /// The content.
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Short { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Long(bytes) => bytes,
        }
    }

    /// The content as shared bytes if it is held by reference.
    pub fn as_shared(&self) -> Option<&Bytes> {
        match &self.0 {
            Repr::Short { .. } => None,
            Repr::Long(bytes) => Some(bytes),
        }
    }

    /// Length of the content in bytes.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn short(content: &[u8]) -> Option<Self> {
        Self::short_of(&[content])
    }

    fn short_of(parts: &[&[u8]]) -> Option<Self> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        if total > IN_PLACE {
            return None;
        }
        let mut bytes = [0; IN_PLACE];
        let mut len = 0;
        for part in parts {
            bytes[len..len + part.len()].copy_from_slice(part);
            len += part.len();
        }
        Some(Self(Repr::Short { len: len as u8, bytes }))
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Blob {}

impl PartialOrd for Blob {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Blob {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

/// As `[u8]` does, so that a map of blobs is asked with a slice.
impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl Borrow<[u8]> for Blob {
    fn borrow(&self) -> &[u8] {
        self.as_slice()
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_slice().escape_ascii().to_string(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_padding() {
        assert_eq!(size_of::<Blob>(), 40);
    }

    #[test]
    fn short_content_lets_go_of_its_source_and_long_content_shares_it() {
        for len in [0, 1, IN_PLACE, IN_PLACE + 1, 10_000] {
            let source = Bytes::from(vec![7; len]);
            let blob = Blob::adopt(source.clone());
            assert_eq!(blob.as_slice(), source);
            assert_eq!(blob.as_shared().is_some(), len > IN_PLACE, "{len}");
            if let Some(shared) = blob.as_shared() {
                assert_eq!(shared.as_ptr(), source.as_ptr());
            }
            assert_eq!(blob, Blob::copy_from(&source));
        }
    }

    #[test]
    fn appending_copies_a_long_value_once() {
        let mut blob = Blob::copy_from(b"");
        let mut expected = Vec::new();
        let (mut at, mut moves) = (std::ptr::null(), 0);
        for round in 0..10_000_u32 {
            blob = blob.append(&round.to_le_bytes());
            expected.extend(round.to_le_bytes());
            let now_at = blob.as_shared().map_or(std::ptr::null(), |shared| shared.as_ptr());
            moves += u32::from(now_at != at);
            at = now_at;
        }
        assert_eq!(blob.as_slice(), expected);
        assert!(moves < 30, "{moves}");
        let kept = blob.clone();
        assert_eq!(blob.append(b"x").len(), kept.len() + 1, "what others hold stays as it is");
        assert_eq!(kept.as_slice(), expected);
    }
}
