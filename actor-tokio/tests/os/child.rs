//! Runs one test again in a process of its own, under other circumstances: threads, descriptors and limits are the whole
//! process's, and tests run side by side.

use std::{
    env,
    process::{Command, Stdio},
};

const MARK: &str = "ACTOR_TEST_CHILD";

/// Whether this process is such a child.
pub fn is_child() -> bool {
    env::var_os(MARK).is_some()
}

/// Runs the test called `name` in a child, started through `wrapper` (a command that runs its last arguments), with more
/// variables in its environment. Fails if it fails.
pub fn rerun(name: &str, wrapper: &[&str], variables: &[(&str, &str)]) {
    let own = env::current_exe().expect("own path");
    let own = own.to_str().expect("a path in UTF-8");
    let command = [wrapper, &[own, "--exact", name, "--nocapture", "--test-threads=1"]].concat();
    let output = Command::new(command[0])
        .args(&command[1..])
        .env(MARK, "1")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // A name that fits no test would pass as well.
    let passed = output.status.success() && out.contains("1 passed");
    assert!(passed, "{command:?} ended with {}\n{out}\n{err}", output.status);
}

/// Says why a test has nothing to say on this machine.
pub fn skip(name: &str, why: &str) {
    eprintln!("skipped: {name}: {why}");
}

/// Runs a command that is only there to find out whether it works.
pub fn works(command: &[&str]) -> bool {
    let status = Command::new(command[0]).args(&command[1..]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
