mod unsafe_main {
    #[actor_tokio::main]
    pub async unsafe fn main() {}
}

mod foreign {
    #[actor_tokio::main]
    pub async extern "C" fn main() {}
}

fn main() {}
