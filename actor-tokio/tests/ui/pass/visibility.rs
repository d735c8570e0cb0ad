#![deny(unused, private_interfaces, unreachable_pub)]

mod shop {
    use actor_tokio::prelude::*;

    // Private to its module.
    #[actor]
    struct Private(Item);

    struct Item;

    #[actor]
    impl Private {
        pub(super) fn open(&self, _: Item) -> Item {
            Item
        }
        fn helper(&self) -> &Item {
            &self.0
        }
        pub(self) fn own(&self) {
            self.helper();
        }
    }

    pub(super) async fn run(runtime: &RuntimeHandle) -> Result<(), actor_tokio::Error> {
        let handle = runtime.spawn(|| Private(Item)).await?;
        handle.open(Item).await?;
        handle.own().await?;
        Ok(())
    }

    pub(crate) mod inner {
        use actor_tokio::prelude::*;

        #[actor]
        pub(crate) struct Inner;

        #[actor]
        impl Inner {
            pub(super) fn for_parent(&self) {}
            pub(in crate::shop) fn for_shop(&self) {}
            pub(crate) fn for_crate(&self, _: super::super::Word) {}
        }

        pub(in super::super) async fn run(inner: InnerHandle) -> Result<(), AskError> {
            inner.for_parent().await?;
            inner.for_shop().await
        }
    }

    pub(super) async fn parent(inner: inner::InnerHandle) -> Result<(), AskError> {
        inner.for_parent().await
    }
}

pub(crate) struct Word;

async fn run(runtime: &actor_tokio::RuntimeHandle) -> Result<(), actor_tokio::Error> {
    shop::run(runtime).await?;
    let inner: shop::inner::InnerHandle = runtime.spawn(|| shop::inner::Inner).await?;
    inner.for_crate(Word).await?;
    shop::parent(inner.clone()).await?;
    shop::inner::run(inner).await?;
    Ok(())
}

fn main() {
    let _ = run;
}
