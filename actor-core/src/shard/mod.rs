//! The engine: one shard's domain, its activation, the router and the budgeted turn.

mod activation;
mod core;
mod deadlock;
mod domain;
mod evict;
mod finish;
mod requests;
mod router;
mod spin;
mod stats;
mod turn;

pub use self::{
    activation::Activation,
    domain::{Domain, DomainConfig, DomainError, Remote, Shard},
    spin::Spin,
    stats::Stats,
    turn::Turn,
};
pub(crate) use self::{
    activation::{current_core, current_shard, is_on_shard, with_core},
    core::Core,
    requests::{Promise, Promising, Request, promise},
    router::{deliver, is_current, look_at_bell, signal, wake_slot},
};
