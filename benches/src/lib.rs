//! What the measurements share.

#![forbid(unsafe_code)]

pub mod dash;
