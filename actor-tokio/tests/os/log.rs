//! Collects the warnings of a process.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Warnings and errors, one text each.
#[derive(Clone, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Collects from now on, on all threads. Once per process.
    pub fn collect() -> Self {
        let warnings = Self::default();
        tracing::subscriber::set_global_default(warnings.clone()).expect("the only subscriber");
        warnings
    }

    /// What came since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("warnings"))
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                write!(self.0, "{field}={value:?} ").expect("text");
            }
        }

        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().expect("warnings").push(text.0);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}
