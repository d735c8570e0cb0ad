//! One listening socket for each shard, all on one port.
//!
//! With `SO_REUSEPORT` the system spreads new connections over the sockets. The price is a way to lose some: closing one of
//! the sockets resets the connections in its accept queue, and between "the queue is empty" and the close new ones arrive.
//! [`stop_handshakes`] closes that gap.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use thiserror::Error;

/// How many connections wait to be accepted before the system makes clients wait.
const BACKLOG: i32 = 1_024;

/// The address could not be listened at.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BindError {
    /// Somebody else listens there.
    #[error(
        "port {port} on {host} is in use: stop the server that has it, choose another port with --port, \
         or share it on purpose with --reuse-port",
        port = .0.port(),
        host = .0.ip()
    )]
    InUse(SocketAddr),
    /// Anything else.
    #[error("cannot listen at {0}: {1}")]
    Io(SocketAddr, #[source] io::Error),
}

/// Binds `count` listeners to `address`; with port 0, to one free port. They do not block.
///
/// `SO_REUSEPORT` alone would let a second server of the same user in without a word, and the two would split the clients.
/// So unless `shared`, a socket without it tries the port first and holds it until all others are bound.
///
/// # Errors
///
/// The port is in use and not `shared`, or the system refuses.
pub fn bind(address: SocketAddr, count: usize, shared: bool) -> Result<Vec<TcpListener>, BindError> {
    let error = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse(address),
        _ => BindError::Io(address, error),
    };
    let mut address = address;
    let _probe = if shared {
        None
    } else {
        let probe = bound(address, false).map_err(error)?;
        address = local_address(&probe).map_err(error)?;
        Some(probe)
    };
    let mut listeners = Vec::with_capacity(count);
    for _ in 0..count {
        let socket = bound(address, true).map_err(error)?;
        address = local_address(&socket).map_err(error)?;
        socket.listen(BACKLOG).map_err(error)?;
        listeners.push(socket.into());
    }
    Ok(listeners)
}

/// Lets no new handshake begin on `listener`, while those under way complete. The client sends its `SYN` again a second
/// later, to another socket of the port or to one that is closed by then.
///
/// # Errors
///
/// The system has no socket filters, or does not allow them. The listener works as before.
pub fn stop_handshakes(listener: &impl std::os::fd::AsFd) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        filter::drop_syn(&SockRef::from(listener))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = SockRef::from(listener);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// `SO_REUSEADDR` does not let two sockets listen at one port; it lets a restarted server in while connections of the last
/// one are still being forgotten.
fn bound(address: SocketAddr, reuse_port: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(reuse_port)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn local_address(socket: &Socket) -> io::Result<SocketAddr> {
    socket.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

#[cfg(target_os = "linux")]
mod filter {
    //! A classic BPF program, which the system runs on each segment for the socket, from its TCP header on.

    use std::io;

    use socket2::{SockFilter, SockRef};

    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;

    const FLAGS_AT: u32 = 13;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    const DROP: u32 = 0;
    const PASS: u32 = u32::MAX;

    /// Drops what has SYN and not ACK; a listener accepts a connection at its last segment, which has ACK.
    pub(super) fn drop_syn(listener: &SockRef<'_>) -> io::Result<()> {
        listener.attach_filter(&[
            SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_AT),
            SockFilter::new(AND, 0, 0, SYN | ACK),
            SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
            SockFilter::new(RETURN, 0, 0, DROP),
            SockFilter::new(RETURN, 0, 0, PASS),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    #[test]
    fn all_on_one_port_and_nobody_else_without_asking() {
        let listeners = bind(LOOPBACK, 3, false).unwrap();
        let address = listeners[0].local_addr().unwrap();
        assert!(listeners.iter().all(|listener| listener.local_addr().unwrap() == address));
        let error = bind(address, 1, false).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&address.port().to_string()) && text.contains("--reuse-port"), "{text}");
        bind(address, 2, true).unwrap();
        drop(listeners);
        bind(address, 1, false).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_handshake_begins_and_the_ones_before_are_accepted() {
        let listener = bind(LOOPBACK, 1, false).unwrap().remove(0);
        let address = listener.local_addr().unwrap();
        let mut before = TcpStream::connect(address).unwrap();
        stop_handshakes(&listener).unwrap();
        before.write_all(b"x").unwrap();
        TcpStream::connect_timeout(&address, Duration::from_millis(100)).unwrap_err();
        let (mut accepted, _) = listener.accept().unwrap();
        accepted.set_nonblocking(false).unwrap();
        let mut byte = [0];
        accepted.read_exact(&mut byte).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
