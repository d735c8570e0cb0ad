//! Leaves the compiler's version where the program can print it.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("-V").output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=COMPARE_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    println!("cargo:rerun-if-changed=build.rs");
}
