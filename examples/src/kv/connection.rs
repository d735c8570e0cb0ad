//! One client: read, plan, ask the partitions, write the replies, and never let the client hold more than its share.
//!
//! A connection is one task, on the shard that accepted it. A round takes the complete requests of what has been read,
//! hands each partition one batch, waits for all of them together, and writes the replies in order. While more than
//! [`ANSWERS`] bytes wait to be written it neither reads nor runs anything: a client that does not read is held back by its
//! own connection, and dropped when it takes nothing for the write timeout.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout, timeout_at};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use super::backend::Backend;
use super::batch::ANSWERS;
use super::command::{self, Front};
use super::input::Input;
use super::output::{Output, empty_slices};
use super::plan::{Assembled, Plan};
use super::resp::{Args, Found, ProtocolError, rewrite_inline};
use super::router::Router;
use super::session::Session;

/// When the server drains: how long a client that has connected but not asked anything, or has sent half a request, may
/// take to complete it.
const GRACE: Duration = Duration::from_millis(500);
/// How long a client may take to close its side once the server has closed its own.
const LINGER: Duration = Duration::from_secs(1);

/// One client's connection.
pub struct Connection<B: Backend> {
    stream: TcpStream,
    backend: B,
    session: Session,
    input: Input,
    /// Inline commands of this round, as frames.
    rewritten: BytesMut,
    plan: Plan,
    /// The batches that are at their partitions.
    calls: Vec<Option<B::Execute>>,
    output: Output,
    /// Runs while there is output that the client does not take.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Whether the client has asked anything yet.
    asked: bool,
}

/// What a waiting connection has to do next.
enum Event {
    /// Bytes came, or went.
    Moved,
    /// The client will send no more.
    End,
    /// The server drains.
    Drain,
}

impl<B: Backend> Connection<B> {
    /// A connection that has been accepted. Its keys are routed by `router` to the partitions of `backend`.
    pub fn new(stream: TcpStream, session: Session, router: Router, backend: B) -> Self {
        // Replies are written when they are complete; waiting for more only delays them. Not all sockets have the option.
        let _ = stream.set_nodelay(true);
        Self {
            stream,
            backend,
            session,
            input: Input::new(),
            rewritten: BytesMut::new(),
            calls: (0..router.partitions()).map(|_| None).collect(),
            plan: Plan::new(router),
            output: Output::default(),
            stalled: None,
            asked: false,
        }
    }

    /// Serves the client until it leaves, breaks the protocol, takes no replies, or the server drains.
    ///
    /// # Errors
    ///
    /// The connection broke: what was asked may not have been answered.
    pub async fn serve(mut self, drain: &CancellationToken) -> io::Result<()> {
        let mut draining = pin!(drain.cancelled());
        loop {
            self.run_rounds().await?;
            if self.plan.is_closing() {
                break;
            }
            match poll_fn(|cx| self.poll_event(draining.as_mut(), cx)).await? {
                Event::Moved => {}
                Event::End => break,
                Event::Drain => {
                    self.answer_received().await?;
                    break;
                }
            }
        }
        self.flush(0).await?;
        self.part().await
    }

    /// Runs all complete requests that have been read.
    async fn run_rounds(&mut self) -> io::Result<()> {
        while !self.plan.is_closing() && self.plan_round() {
            self.asked = true;
            self.session.server.processed(self.session.shard, self.plan.commands());
            self.send_all();
            self.answers().await;
            while let Assembled::Unfinished(partition) = self.plan.assemble(&self.session, &mut self.output) {
                self.flush(ANSWERS).await?;
                self.send(partition);
                self.answers().await;
            }
            self.flush(ANSWERS).await?;
        }
        Ok(())
    }

    /// Plans the complete requests that have been read, up to what one round takes. Answers whether there are any.
    fn plan_round(&mut self) -> bool {
        let mut at = 0;
        while !self.plan.is_full() {
            match self.input.find(at) {
                Ok(Found::Frame(len)) => {
                    match Args::decode(self.input.bytes(), at) {
                        Some(args) => plan(&mut self.session, &mut self.plan, &args),
                        None => self.refuse(ProtocolError::BulkLength),
                    }
                    at += len;
                }
                Ok(Found::Nothing(len)) => at += len,
                // A round has its arguments in one buffer, and those of inline commands are not where they were read.
                Ok(Found::Line(_)) if !self.plan.is_empty() => break,
                Ok(Found::Line(_)) => {
                    self.input.skip(at);
                    self.plan_lines();
                    return !self.plan.is_empty();
                }
                Ok(Found::Partial(_)) => break,
                Err(error) => self.refuse(error),
            }
        }
        let (requests, capacity) = self.input.take(at);
        self.plan.seal(&requests, capacity);
        !self.plan.is_empty()
    }

    /// The same for a run of inline commands.
    fn plan_lines(&mut self) {
        while !self.plan.is_full() {
            match self.input.find(0) {
                Ok(Found::Line(len)) => {
                    let at = self.rewritten.len();
                    match rewrite_inline(&self.input.bytes()[..len], &mut self.rewritten) {
                        Ok(false) => {}
                        Ok(true) => match Args::decode(&self.rewritten, at) {
                            Some(args) => plan(&mut self.session, &mut self.plan, &args),
                            None => self.refuse(ProtocolError::Quotes),
                        },
                        Err(error) => self.refuse(error),
                    }
                    self.input.skip(len);
                }
                Err(error) => self.refuse(error),
                Ok(_) => break,
            }
        }
        let requests = std::mem::take(&mut self.rewritten);
        let capacity = requests.capacity();
        self.plan.seal(&requests.freeze(), capacity);
    }

    fn refuse(&mut self, error: ProtocolError) {
        self.plan.error(format!("ERR Protocol error: {error}").as_bytes());
        self.plan.close();
    }

    // === partitions ===

    fn send_all(&mut self) {
        for partition in 0..self.calls.len() {
            self.send(partition);
        }
    }

    fn send(&mut self, partition: usize) {
        if let Some(batch) = self.plan.send(partition) {
            self.calls[partition] = Some(self.backend.execute(partition, batch));
        }
    }

    /// Waits until all batches are back.
    async fn answers(&mut self) {
        poll_fn(|cx| {
            let mut all = Poll::Ready(());
            for (partition, slot) in self.calls.iter_mut().enumerate() {
                let Some(call) = slot else { continue };
                match Pin::new(call).poll(cx) {
                    Poll::Ready(batch) => {
                        *slot = None;
                        self.plan.returned(partition, batch);
                    }
                    Poll::Pending => all = Poll::Pending,
                }
            }
            all
        })
        .await;
    }

    // === socket ===

    /// Writes what there is to write, and reads unless too much is left.
    fn poll_event(
        &mut self,
        draining: Pin<&mut WaitForCancellationFuture<'_>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Event>> {
        if let Poll::Ready(Err(error)) = self.poll_flush(0, cx) {
            return Poll::Ready(Err(error));
        }
        if self.output.len() <= ANSWERS {
            match self.input.poll_read(&mut self.stream, cx)? {
                Poll::Ready(0) => return Poll::Ready(Ok(Event::End)),
                Poll::Ready(_) => return Poll::Ready(Ok(Event::Moved)),
                Poll::Pending => {}
            }
        }
        draining.poll(cx).map(|()| Ok(Event::Drain))
    }

    /// Writes until at most `left` bytes are left.
    async fn flush(&mut self, left: usize) -> io::Result<()> {
        if self.output.len() <= left {
            return Ok(());
        }
        poll_fn(|cx| self.poll_flush(left, cx)).await
    }

    fn poll_flush(&mut self, left: usize, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.output.len() > left {
            match self.poll_write(cx)? {
                Poll::Ready(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Poll::Ready(written) => {
                    self.output.advance(written);
                    self.stalled = None;
                }
                Poll::Pending => {
                    let limit = self.session.server.write_timeout();
                    let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
                    ready!(stalled.as_mut().poll(cx));
                    return Poll::Ready(Err(ErrorKind::TimedOut.into()));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        if let Some(bytes) = self.output.single() {
            return stream.poll_write(cx, bytes);
        }
        let mut slices = empty_slices();
        let count = self.output.slices(&mut slices);
        stream.poll_write_vectored(cx, &slices[..count])
    }

    // === the end ===

    /// Answers what the client has sent so far, also what the system has received and nobody has read.
    async fn answer_received(&mut self) -> io::Result<()> {
        let until = Instant::now() + GRACE;
        loop {
            match self.input.read_received(&self.stream) {
                Ok(0) => return Ok(()),
                Ok(_) => self.run_rounds().await?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let owes_nothing = self.asked && self.input.is_empty();
                    if owes_nothing || timeout_at(until, self.wait_readable()).await.is_err() {
                        return Ok(());
                    }
                    self.run_rounds().await?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.plan.is_closing() {
                return Ok(());
            }
        }
    }

    /// Waits for more than what [`Input::read_received`] took behind Tokio's back.
    async fn wait_readable(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.input.poll_read(&mut self.stream, cx)).await.map(drop)
    }

    /// Ends the connection so that the client gets its last replies: closing a socket with unread input resets it, and a
    /// reset takes away what the client has not read.
    async fn part(mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let mut rest = vec![0; 16 * 1024];
        let drained = timeout(LINGER, async {
            while self.stream.read(&mut rest).await? > 0 {}
            io::Result::Ok(())
        });
        drained.await.unwrap_or(Ok(()))
    }
}

fn plan(session: &mut Session, plan: &mut Plan, args: &Args<'_>) {
    command::plan(&mut Front { session, plan }, args);
}
