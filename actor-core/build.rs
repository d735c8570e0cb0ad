//! Chooses the ring of the engine (`src/mailbox/README.md`): by the environment variable `ACTOR_RING`, and not by a
//! feature, since features add up and this is one of several.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(actor_ring, values(\"lanes\", \"mutex\", \"vyukov\"))");
    println!("cargo::rerun-if-env-changed=ACTOR_RING");
    println!("cargo::rerun-if-changed=build.rs");
    let chosen = std::env::var("ACTOR_RING").unwrap_or_else(|_| "lanes".to_owned());
    // The crate refuses to be built with none, or with two; an unknown name is none.
    for ring in chosen.split(',').filter(|ring| ["lanes", "mutex", "vyukov"].contains(ring)) {
        println!("cargo::rustc-cfg=actor_ring=\"{ring}\"");
    }
}
