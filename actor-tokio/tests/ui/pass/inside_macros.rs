use actor_tokio::prelude::*;

macro_rules! counter {
    ($name:ident, $ty:ty, $add:ident, $mailbox:expr, $visibility:vis) => {
        #[actor(mailbox = $mailbox)]
        $visibility struct $name {
            total: $ty,
        }

        #[actor]
        impl $name {
            pub fn $add(&mut self, by: $ty, cx: &mut Cx<Self>) -> $ty {
                let _ = cx.id();
                self.total += by;
                self.total
            }
            pub fn checked(&self, by: Option<$ty>) -> Result<$ty, String> {
                by.ok_or_else(String::new)
            }
            pub fn unused(&self, _: $ty) {}
            #[actor(on_start)]
            async fn begin(&mut self, cx: &Cx<Self>) -> Result<(), String> {
                let _ = (cx.id(), self.total);
                Ok(())
            }
            #[actor(on_stop)]
            fn end(&mut self, reason: &ExitReason, cx: &mut Cx<Self>) {
                let _ = (cx.id(), reason);
            }
            #[actor(on_error)]
            fn failed(&mut self, failure: &TellFailure<'_>) {
                let _ = failure;
            }
        }
    };
}

macro_rules! more {
    ($ty:ty) => {
        #[actor(more)]
        impl $ty {
            pub fn reset(&mut self) -> Option<$ty> {
                self.total = 0;
                None
            }
        }
    };
}

counter!(Small, u8, add, 8, pub);
counter!(Large, u64, plus, 1 << 4, pub(crate));

more!(Small);

async fn run(small: SmallHandle, large: LargeHandle) -> Result<u64, actor_tokio::Error> {
    drop(small.reset().await?);
    let sum: u8 = small.add(1).await?;
    large.checked(Some(2)).await?;
    Ok(large.plus(sum.into()).await?)
}

fn main() {
    let _ = run;
}
