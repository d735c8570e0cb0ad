// Types, traits, modules, constants and macros of the user, called like those that an expansion names.
#![allow(dead_code, unused_macros, non_camel_case_types)]

use actor_tokio::actor;

pub struct Option;
pub struct Result;
pub struct String;
pub struct Handle;
pub struct Call;
pub struct Cx;
pub struct Box;
pub struct Some;
pub struct Ok;
pub struct Err;
pub struct Args;
pub struct Method;
pub struct Infallible;
pub struct Future;
pub struct Message;
pub struct usize;
pub struct bool;
pub struct str;
pub trait Clone {}
pub trait Deref {}
pub trait Debug {}
pub trait Actor {}
pub trait Typed {}
pub trait Send {}
mod core {}
mod std {}
mod actor_core {}
mod __macro {}
macro_rules! assert { () => {} }
macro_rules! panic { () => {} }
macro_rules! stringify { () => {} }
macro_rules! matches { () => {} }
const NAME: u8 = 1;
const MAILBOX: u64 = 2;

#[actor(mailbox = 4)]
pub struct Shop;

#[actor]
impl Shop {
    pub fn option(&self, text: String, call: Call) -> Option {
        let _ = (text, call);
        Option
    }
    #[actor(plain)]
    pub fn result(&mut self, handle: Handle) -> Result {
        let _ = handle;
        Result
    }
    pub async fn sizes(&self, size: usize, on: bool) -> str {
        let _ = (size, on);
        str
    }
    #[actor(on_start)]
    async fn begin(&mut self, cx: &mut actor_tokio::Cx<Self>) {
        let _ = cx.id();
    }
}

pub trait ToShop {
    fn call(&self) {}
    fn deref(&self) {}
    fn clone(&self) {}
    fn is_plain() {}
}

impl<T: ?Sized> ToShop for T {}

fn main() {}
