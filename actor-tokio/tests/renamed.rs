//! A user's crate that depends on `actor-tokio` under another name, and has lints denied that look at what a crate
//! exports: it is built by Cargo as a user's would be.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn a_crate_that_renames_ours_builds_and_runs_without_a_lint() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = Path::new(env!("CARGO_TARGET_TMPDIR")).join("renamed");
    set_up(here, &there);
    let lint = if has_clippy() { "clippy" } else { "check" };
    run(&there, &[lint, "--all-targets"]);
    run(&there, &["doc", "--no-deps"]);
    assert!(run(&there, &["run"]).contains("corner"));
}

/// Copies the crate out of the workspace.
fn set_up(here: &Path, there: &Path) {
    let source = here.join("tests/renamed");
    fs::create_dir_all(there.join("src")).expect("directory");
    let manifest = fs::read_to_string(source.join("Cargo.toml")).expect("manifest");
    let path = here.to_str().expect("path").replace('\\', "/");
    fs::write(there.join("Cargo.toml"), manifest.replace("@actor-tokio@", &path)).expect("manifest");
    for name in ["src/lib.rs", "src/main.rs"] {
        fs::copy(source.join(name), there.join(name)).expect("source");
    }
    // The workspace's versions, which are there already.
    fs::copy(here.join("../Cargo.lock"), there.join("Cargo.lock")).expect("lock");
}

fn has_clippy() -> bool {
    cargo(&PathBuf::from(".")).args(["clippy", "--version"]).output().is_ok_and(|output| output.status.success())
}

fn run(there: &Path, args: &[&str]) -> String {
    let output = cargo(there).args(args).arg("--offline").output().expect("cargo");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {args:?} failed:\n{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn cargo(directory: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(directory).env("CARGO_TARGET_DIR", directory.join("target")).env_remove("RUSTFLAGS");
    cargo
}
