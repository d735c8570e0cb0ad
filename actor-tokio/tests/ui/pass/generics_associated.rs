use actor_tokio::prelude::*;

pub trait Protocol: 'static {
    type Request: Send;
    type Error: std::fmt::Debug + Send;
    fn parse(request: Self::Request) -> Result<u64, Self::Error>;
}

#[actor]
pub struct Server<P: Protocol>(std::marker::PhantomData<P>);

#[actor]
impl<P> Server<P>
where
    P: Protocol,
    Self: Sized,
{
    pub fn serve(&self, request: P::Request) -> Result<u64, P::Error> {
        P::parse(request)
    }
    pub fn serve_qualified(&self, request: <P as Protocol>::Request) -> Result<u64, <P as Protocol>::Error> {
        P::parse(request)
    }
    pub fn many(&self, requests: Vec<P::Request>) -> usize
    where
        Self: Sized,
    {
        requests.len()
    }
}

pub async fn run<P: Protocol>(server: ServerHandle<P>, request: P::Request) -> Result<u64, AskError<P::Error>> {
    server.serve(request).await
}

fn main() {}
