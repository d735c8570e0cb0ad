//! Every snippet of the book is run by a test; every chapter is a page; the table of defaults is true.

use std::{fs, path::Path};

use actor_tokio::prelude::*;

fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages that the table of contents names.
fn pages() -> Vec<String> {
    let summary = read("src/SUMMARY.md");
    let links = summary.split("](").skip(1);
    links.filter_map(|rest| rest.split(')').next()).map(ToOwned::to_owned).collect()
}

/// The bodies of a page's Rust snippets.
fn snippets(text: &str) -> Vec<&str> {
    text.split("\n```rust\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default()).collect()
}

#[test]
fn a_snippet_is_tested_on_its_page_or_included_from_a_tested_file() {
    let tested = read("lib.rs");
    let mut seen = 0;
    for page in pages() {
        let text = read(format!("src/{page}"));
        let is_tested = tested.contains(&format!("\"src/{page}\""));
        for snippet in snippets(&text) {
            seen += 1;
            let Some(include) = snippet.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) else {
                assert!(is_tested, "{page}: add it to `lib.rs`, or include the code from `listings`:\n{snippet}");
                continue;
            };
            assert!(!is_tested, "{page}: a documentation test sees an include as it is written:\n{snippet}");
            let (file, anchor) = include.split_once(':').expect("an include names an anchor");
            let listing = read(format!("src/{file}"));
            for mark in [format!("// ANCHOR: {anchor}\n"), format!("// ANCHOR_END: {anchor}\n")] {
                assert!(listing.contains(&mark), "{page}: {file} lacks {mark:?}");
            }
        }
    }
    assert!(seen > 10, "only {seen} snippets were found: has their form changed?");
}

#[test]
fn the_summary_names_every_page() {
    let pages = pages();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("sources") {
        let name = entry.expect("entry").file_name().into_string().expect("UTF-8");
        assert!(name == "SUMMARY.md" || pages.contains(&name), "{name} is no chapter");
    }
}

#[test]
fn the_table_of_defaults_is_true() -> Result<(), actor_tokio::Error> {
    let builder = ShardedRuntime::builder().cores(1).pin(Pin::Never);
    let settings = format!("{builder:?}");
    let table = read("src/defaults.md");
    for (row, setting) in [
        ("| mailbox of an actor | 256 messages |", "mailbox_capacity: 256,"),
        ("| ring into a shard | 1,024 messages |", "ring_capacity: 1024,"),
        ("| time of an ask | 30 s,", "ask_timeout: Some(30s),"),
        ("| spin before sleep | `Spin::Auto` |", "spin: Auto,"),
        ("| threads for blocking work | 512 in all,", "max_blocking_threads: 512,"),
        ("| name of a shard's thread | `actor-shard-0`, `-1`, .. |", "thread_name: \"actor-shard\","),
    ] {
        assert!(table.contains(row), "the table lacks {row}");
        assert!(settings.contains(setting), "{settings} lacks {setting}");
    }
    let rt = builder.build()?;
    rt.block_on(async {
        let actor = rt.spawn_fn(|mut inbox: Inbox<()>, _| async move { while inbox.recv().await.is_some() {} }).await?;
        assert_eq!(actor.capacity(), 256);
        Ok(())
    })
}
