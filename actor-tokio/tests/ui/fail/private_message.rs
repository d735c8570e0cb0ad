mod shop {
    use actor_tokio::prelude::*;

    #[actor]
    pub struct Shop;

    #[actor]
    impl Shop {
        pub(self) fn open(&self) {}
        fn hidden(&self) {}
        #[actor(skip)]
        pub fn skipped(&self) {}
        #[actor(on_start)]
        pub fn begin(&mut self) {
            self.hidden();
        }
    }
}

fn call(shop: &shop::ShopHandle) {
    _ = shop.open();
    _ = shop.hidden();
    _ = shop.skipped();
    _ = shop.begin();
}

fn main() {}
