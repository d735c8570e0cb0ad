//! What the macros accept and refuse, and what they say about it.
//!
//! The texts include rustc's, and are those of the stable release that CI builds with. After a change of either,
//! `TRYBUILD=overwrite cargo test -p actor-tokio --test ui` writes them anew: read the difference. One case alone:
//! `cargo test -p actor-tokio --test ui -- ui trybuild=argument_str`.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
