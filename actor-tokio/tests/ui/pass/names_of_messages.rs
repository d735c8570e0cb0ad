use actor_tokio::prelude::*;

#[actor]
pub struct Names;

#[actor]
impl Names {
    // Built-ins of the handle, and methods of the traits that it has.
    pub fn stop(&self) -> u8 {
        1
    }
    pub fn id(&self) -> u8 {
        2
    }
    pub fn clone(&self) -> u8 {
        3
    }
    pub fn deref(&self) -> u8 {
        4
    }
    pub fn call(&self, args: (u8,)) -> u8 {
        args.0
    }
    pub fn from(&self) -> u8 {
        6
    }
    pub fn eq(&self, other: u8) -> bool {
        other == 7
    }
    pub fn fmt(&self) -> String {
        String::new()
    }
    pub fn run(&self) {}
    pub fn poll(&self) {}
    pub fn handle(&self) {}
    pub fn closed(&self) {}
    pub fn reserve(&self, seats: u8) -> u8 {
        seats
    }
    pub fn try_reserve(&self) {}
    pub fn overflow(&self) {}
    pub fn evicted(&self) {}
}

pub async fn run(names: NamesHandle) -> Result<(), AskError> {
    assert_eq!(names.stop().await? + names.id().await? + names.clone().await? + names.deref().await?, 10);
    names.call((5,)).await?;
    names.from().await?;
    names.eq(7).await?;
    names.fmt().await?;
    names.run().await?;
    names.poll().await?;
    names.handle().await?;
    names.closed().await?;
    assert_eq!(names.reserve(8).await?, 8);
    names.try_reserve().await?;
    names.overflow().await?;
    names.evicted().await?;
    // The built-ins are still there.
    let id: ActorId = Handle::id(&names);
    let again = Clone::clone(&names);
    assert!(again == names && Handle::id(&again) == id);
    assert_eq!((Handle::overflow(&names), Handle::evicted(&names)), (Overflow::Wait, 0));
    drop(Handle::reserve(&names).await);
    drop(Handle::try_reserve(&names));
    Handle::stop(&names).await;
    Ok(())
}

fn main() {}
