#![no_implicit_prelude]

#[::actor_tokio::actor(mailbox = 4)]
pub struct Shop<T>(T);

#[::actor_tokio::actor]
impl<T: ::std::clone::Clone + ::std::marker::Send> Shop<T> {
    pub fn get(&self) -> T {
        ::std::clone::Clone::clone(&self.0)
    }
    pub async fn checked(&mut self, by: u8) -> ::std::result::Result<u8, ::std::string::String> {
        ::std::result::Result::Ok(by)
    }
    #[actor(on_start)]
    fn begin(&mut self) -> ::std::result::Result<(), ::std::io::Error> {
        ::std::result::Result::Ok(())
    }
    #[actor(on_stop)]
    async fn end(&mut self) {}
    #[actor(on_error)]
    fn failed(&mut self) {}
}

#[::actor_tokio::main(cores = 1)]
async fn main() {}
