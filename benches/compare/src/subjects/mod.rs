//! The subjects.

mod actix;
mod kameo;
mod ours;
mod ractor;
mod tokio_mpsc;
mod xtra;

pub use self::{
    actix::Actix,
    kameo::Kameo,
    ours::{Callers, Ours},
    ractor::Ractor,
    tokio_mpsc::TokioMpsc,
    xtra::Xtra,
};
