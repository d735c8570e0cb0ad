#![deny(unused, deprecated, missing_docs, clippy::all, unfulfilled_lint_expectations)]
//! Attributes on handlers.

use actor_tokio::prelude::*;

/// A shop.
#[actor]
#[derive(Debug, Default)]
#[allow(non_camel_case_types)]
pub struct corner_shop {
    /// What it has.
    pub items: Vec<u8>,
}

#[actor]
#[allow(non_snake_case)]
impl corner_shop {
    /// Old.
    #[deprecated(since = "1.0.0", note = "use `open`")]
    pub fn old(&self) {}
    /// Counts.
    #[must_use = "counting is work"]
    pub async fn Count(&self) -> usize {
        self.items.len()
    }
    /// Adds.
    #[expect(unused_variables, reason = "of the method, not of the handle")]
    pub fn add(&mut self, item: u8) {}
    /// Hot.
    #[inline(always)]
    #[rustfmt::skip]
    #[cold]
    pub fn hot(&self) {}
    #[doc(hidden)]
    pub fn hidden(&self) {}
    /// Located.
    #[track_caller]
    pub fn located(&self) -> &'static str {
        std::panic::Location::caller().file()
    }
    /// Refers to [`Self::hot`] and takes `item`.
    ///
    /// # Errors
    ///
    /// None.
    #[doc(alias = "sell")]
    pub fn documented(&self, #[allow(unused_variables)] item: u8) -> Result<(), std::fmt::Error> {
        Ok(())
    }
}

/// Runs.
pub async fn run(shop: &corner_shopHandle) -> Result<usize, AskError> {
    #[expect(deprecated, reason = "the handle's method is deprecated too")]
    shop.old().await?;
    shop.hidden().await?;
    shop.Count().await
}

fn main() {}
