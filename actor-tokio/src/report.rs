//! The engine's reports, as tracing events.

use actor_core::port::{Driver, Report};

/// The driver half that the engine talks to.
pub(crate) struct TokioDriver;

impl Driver for TokioDriver {
    fn has_budget(&self) -> bool {
        // All actors of a turn are polled in one Tokio task and so share its budget. When it is spent, Tokio's
        // resources say `Pending` whatever they have: the turn ends, and the next begins with a fresh one.
        tokio::task::coop::has_budget_remaining()
    }

    fn report(&self, report: Report<'_>) {
        match report {
            Report::TellFailed { actor, kind, method, error } => {
                tracing::warn!(%actor, kind, method, ?error, "a told handler returned an error");
            }
            Report::ActorFailed { actor, kind, reason } => {
                tracing::error!(%actor, kind, %reason, "an actor failed");
            }
            Report::Evicted { actor, kind, policy, count } => {
                tracing::warn!(%actor, kind, %policy, count, "a full mailbox dropped messages");
            }
            _ => {}
        }
    }
}
