//! Ports that nobody else takes.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

/// A port of the loopback interface that is ours until this is dropped, listened on or not.
///
/// Held by a socket that is bound and does not listen: connections are refused as on any closed
/// port, the kernel gives the port to nobody who asks for a free one, and whoever names it and
/// allows the reuse of addresses (every server does) can listen on it.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    _hold: Socket,
}

impl Port {
    /// One that was free.
    pub(crate) fn free() -> Self {
        Self::hold(0).unwrap()
    }

    /// This one; somebody may listen on it already, as long as it is one of ours.
    pub(crate) fn take(number: u16) -> Self {
        free_again(|| Self::hold(number)).unwrap_or_else(|e| panic!("port {number}: {e}"))
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    /// Listens on it; fails when somebody else does.
    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        free_again(|| {
            let socket = bound(self.number)?;
            socket.listen(1024)?;
            socket.set_nonblocking(true)?;
            Ok(socket.into())
        })
    }

    fn hold(number: u16) -> io::Result<Self> {
        let hold = bound(number)?;
        let address = hold.local_addr()?.as_socket().expect("it is bound");
        Ok(Self { number: address.port(), _hold: hold })
    }
}

/// Tries for a moment to get what was just given up: a process that another test starts has all our
/// sockets until it becomes the program that it is to be.
fn free_again<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        match attempt() {
            Err(e) if e.kind() == io::ErrorKind::AddrInUse && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(2));
            }
            result => return result,
        }
    }
}

fn bound(number: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from(SocketAddrV4::new(Ipv4Addr::LOCALHOST, number)).into())?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpStream;

    use super::Port;

    #[test]
    fn a_port_is_held_and_refuses_until_somebody_listens() {
        let port = Port::free();
        let connect = || TcpStream::connect(("127.0.0.1", port.number())).map_err(|e| e.kind());
        for _ in 0..3 {
            assert_eq!(connect().unwrap_err(), ErrorKind::ConnectionRefused);
            let listener = port.listen().unwrap();
            connect().unwrap();
            // Whoever looks for a free one is not given it, and two cannot listen.
            assert!(port.listen().is_err());
            drop(listener);
        }
        let others: Vec<Port> = (0..100).map(|_| Port::free()).collect();
        assert!(others.iter().all(|other| other.number() != port.number()));
        // A server can have it beside us.
        Port::take(port.number()).listen().unwrap();
    }
}
