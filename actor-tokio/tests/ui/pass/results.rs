use std::io;

use actor_tokio::prelude::*;

type Outcome<T> = Result<T, io::Error>;

pub struct Refused(pub std::sync::Mutex<u8>);

impl std::fmt::Debug for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Refused")
    }
}

#[actor]
pub struct Shop;

#[actor]
impl Shop {
    pub fn std(&self) -> std::result::Result<u8, io::Error> {
        Ok(1)
    }
    pub async fn alias(&self) -> io::Result<u8> {
        Ok(2)
    }
    pub fn fmt(&self) -> std::fmt::Result {
        Ok(())
    }
    #[actor(result)]
    pub async fn marked(&self) -> Outcome<u8> {
        Ok(3)
    }
    #[actor(plain)]
    pub fn whole(&self) -> Result<u8, String> {
        Ok(4)
    }
    #[actor(plain)]
    pub fn whole_alias(&self) -> Outcome<u8> {
        Ok(5)
    }
    // No `Result`, though there is one in it.
    pub fn inside(&self) -> Option<Result<u8, String>> {
        None
    }
    pub fn refused(&self) -> Result<(), Refused> {
        Ok(())
    }
    pub fn never(&self) -> std::convert::Infallible {
        panic!()
    }
}

pub async fn run(shop: ShopHandle) {
    let std: Result<u8, AskError<io::Error>> = shop.std().await;
    let alias: Result<u8, AskError<io::Error>> = shop.alias().await;
    let fmt: Result<(), AskError<std::fmt::Error>> = shop.fmt().await;
    let marked: Result<u8, AskError<io::Error>> = shop.marked().await;
    let whole: Result<Result<u8, String>, AskError> = shop.whole().await;
    let whole_alias: Result<Outcome<u8>, AskError> = shop.whole_alias().await;
    let inside: Result<Option<Result<u8, String>>, AskError> = shop.inside().await;
    let refused: Result<(), AskError<Refused>> = shop.refused().await;
    drop((std, alias, fmt, marked, whole, whole_alias, inside, refused));
}

fn main() {}
