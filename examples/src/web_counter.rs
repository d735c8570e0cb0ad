//! Counters behind HTTP: an `axum` service on a multi-thread runtime whose state is a set of actor handles.
//!
//! The counters live in one actor per shard; the name of a counter says in which. A handler on a thread of the web runtime
//! asks the actor on its shard; the state itself, a plain map, is shared by nobody.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use actor_tokio::prelude::*;
use actor_tokio::{AskError, RuntimeHandle, SpawnError};
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

/// The most counters of one shard: names come from outside.
const COUNTERS: usize = 100_000;
/// How long a request waits for its counter.
const LIMIT: Duration = Duration::from_secs(2);

/// The counters of one shard.
#[actor]
pub struct Shelf {
    counters: HashMap<String, i64>,
}

/// Why a counter was not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The sum does not fit.
    Overflow,
    /// There are too many counters.
    Crowded,
}

#[actor]
impl Shelf {
    /// An empty one.
    pub fn new() -> Self {
        Self { counters: HashMap::new() }
    }

    /// Adds to a counter, which begins at 0, and answers the sum.
    pub fn add(&mut self, name: String, by: i64) -> Result<i64, Refused> {
        if self.counters.len() >= COUNTERS && !self.counters.contains_key(&name) {
            return Err(Refused::Crowded);
        }
        let total = self.counters.get(&name).copied().unwrap_or(0).checked_add(by).ok_or(Refused::Overflow)?;
        self.counters.insert(name, total);
        Ok(total)
    }

    /// The value of a counter, if there is one.
    pub fn read(&self, name: String) -> Option<i64> {
        self.counters.get(&name).copied()
    }

    /// How many counters there are.
    pub fn count(&self) -> usize {
        self.counters.len()
    }
}

impl Default for Shelf {
    fn default() -> Self {
        Self::new()
    }
}

/// The state of the web service.
#[derive(Clone)]
pub struct Counters {
    shelves: Arc<[ShelfHandle]>,
}

impl Counters {
    /// Starts a shelf on each shard of `runtime`.
    ///
    /// # Errors
    ///
    /// The runtime is shutting down.
    pub async fn start(runtime: &RuntimeHandle) -> Result<Self, SpawnError> {
        let mut shelves = Vec::new();
        for shard in runtime.shard_ids() {
            shelves.push(runtime.spawn(Shelf::new).on(shard).await?);
        }
        Ok(Self { shelves: shelves.into() })
    }

    fn shelf_of(&self, name: &str) -> &ShelfHandle {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        &self.shelves[hasher.finish() as usize % self.shelves.len()]
    }
}

/// The routes.
pub fn router(counters: Counters) -> Router {
    Router::new()
        .route("/counters/{name}/add", post(add))
        .route("/counters/{name}", get(read))
        .route("/healthz", get(health))
        .with_state(counters)
}

#[derive(Debug)]
struct By(i64);

impl TryFrom<HashMap<String, String>> for By {
    type Error = Failure;

    fn try_from(query: HashMap<String, String>) -> Result<Self, Failure> {
        let by = query.get("by").map_or(Ok(1), |by| by.parse());
        by.map(Self).map_err(|_| Failure(StatusCode::BAD_REQUEST, "by is no integer"))
    }
}

async fn add(
    State(counters): State<Counters>,
    Path(name): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<String, Failure> {
    let By(by) = query.try_into()?;
    let total = counters.shelf_of(&name).add(name.clone(), by).timeout(LIMIT).await?;
    Ok(total.to_string())
}

async fn read(State(counters): State<Counters>, Path(name): Path<String>) -> Result<String, Failure> {
    let value = counters.shelf_of(&name).read(name.clone()).timeout(LIMIT).await?;
    value.map(|value| value.to_string()).ok_or(Failure(StatusCode::NOT_FOUND, "no such counter"))
}

/// Healthy is who answers: each shard is asked.
async fn health(State(counters): State<Counters>) -> Result<String, Failure> {
    let mut count = 0;
    for shelf in counters.shelves.iter() {
        count += shelf.count().timeout(LIMIT).await?;
    }
    Ok(format!("{count} counters"))
}

/// What a client is told when it gets no value.
struct Failure(StatusCode, &'static str);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

impl From<AskError<Refused>> for Failure {
    fn from(error: AskError<Refused>) -> Self {
        match error {
            AskError::Handler(Refused::Overflow) => Self(StatusCode::CONFLICT, "the sum does not fit"),
            AskError::Handler(Refused::Crowded) => Self(StatusCode::INSUFFICIENT_STORAGE, "too many counters"),
            other => Self::unanswered(&other),
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self::unanswered(&error)
    }
}

impl Failure {
    fn unanswered<E>(error: &AskError<E>) -> Self {
        match error {
            AskError::Timeout { .. } => Self(StatusCode::GATEWAY_TIMEOUT, "the counter does not answer"),
            _ => Self(StatusCode::SERVICE_UNAVAILABLE, "the counter is not there"),
        }
    }
}
