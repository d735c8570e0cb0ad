//! Runs the code of the book and of the README.
//!
//! A page's own snippets are the documentation tests of the modules below. A page that includes code shows parts of a
//! program in `listings/`, which has tests of its own. `tests/pages.rs` sees to it that there is no third kind.

#![forbid(unsafe_code)]

macro_rules! pages {
    ($($name:ident: $page:literal)*) => {$(
        #[doc = include_str!($page)]
        pub mod $name {}
    )*};
}

pages! {
    readme: "../README.md"
    why: "src/why.md"
    quickstart: "src/quickstart.md"
    defaults: "src/defaults.md"
    mailboxes: "src/mailboxes.md"
}
