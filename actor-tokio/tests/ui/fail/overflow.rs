use actor_tokio::prelude::*;

#[actor(overflow)]
struct Bare;

#[actor(overflow = DropOdlest)]
struct Unknown;

#[actor(overflow = Overflow::Reject)]
struct Path;

#[actor(overflow = "Reject", mailbox = 4)]
struct Text;

#[actor(overflow = Reject, overflow = Wait)]
struct Twice;

#[actor(overflow = drop_oldest())]
struct Call;

// They are actors all the same.
fn handles(_: BareHandle, _: UnknownHandle, _: PathHandle, _: TextHandle, _: TwiceHandle, _: CallHandle) {}

fn main() {}
