//! The main function of a renamed crate.

use renamed::Shop;
use system::RuntimeHandle;

#[system::main(cores = 1)]
async fn main() {
    let shop = RuntimeHandle::current().spawn(|| Shop::new("corner".into())).await.expect("spawned");
    assert_eq!(shop.sell(2).await, Ok(2));
    println!("{}", shop.name().await.expect("name"));
}
