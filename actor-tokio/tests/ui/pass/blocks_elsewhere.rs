mod state {
    use actor_tokio::prelude::*;

    // The handle goes where the struct goes.
    #[actor]
    pub struct Shop {
        pub(super) open: bool,
    }
}

mod messages {
    use super::state::{Shop, ShopHandle};
    use actor_tokio::prelude::*;

    #[actor]
    impl Shop {
        pub fn open(&mut self) {
            self.open = true;
        }
    }
}

// By its path, and before or after the main block.
#[actor_tokio::actor(more)]
impl state::Shop {
    pub fn is_open(&self) -> bool {
        self.open
    }
}

#[actor_tokio::actor(more)]
impl crate::state::Shop {
    #[actor_tokio::actor(skip)]
    pub fn skipped(&self) {}
}

pub async fn run(shop: state::ShopHandle) -> Result<bool, actor_tokio::AskError> {
    shop.open().await?;
    shop.is_open().await
}

fn main() {}
