#![deny(unused)]

use actor_tokio::prelude::*;

fn start(runtime: &RuntimeHandle) -> impl Future<Output = Result<u8, actor_tokio::Error>> {
    #[actor]
    struct Local(u8);

    #[actor]
    impl Local {
        pub fn get(&self) -> u8 {
            self.0
        }
    }

    let runtime = runtime.clone();
    async move {
        let local: LocalHandle = runtime.spawn(|| Local(3)).await?;
        Ok(local.get().await?)
    }
}

// The same names again, elsewhere.
fn other() {
    #[actor]
    struct Local;

    #[actor]
    impl Local {
        pub fn get(&self) {}
    }

    let _ = |local: LocalHandle| local.get();
    let _ = Local;
}

fn main() {
    let runtime = ShardedRuntime::builder().cores(1).pin(Pin::Never).build().expect("runtime");
    assert_eq!(runtime.block_on(start(&runtime.handle())).expect("answer"), 3);
    other();
}
