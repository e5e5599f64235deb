//! A way to a server that takes time.
//!
//! `test_support::Proxy` has delays as well, in whole milliseconds: its timers have no smaller ones.
//! Half a millisecond each way needs threads, which sleep to within some microseconds.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Relays connections, and lets each byte arrive so much later. It stays until the process ends.
#[derive(Debug)]
pub(crate) struct Wire {
    port: u16,
}

impl Wire {
    pub(crate) fn to(port: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let wire = Self { port: listener.local_addr().unwrap().port() };
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(("127.0.0.1", port)));
                let server = server.unwrap();
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                carry(client.try_clone().unwrap(), server.try_clone().unwrap(), delay);
                carry(server, client, delay);
            }
        });
        wire
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }
}

/// Carries one direction of one connection, to its end.
fn carry(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (send, kept) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(len @ 1..) = from.read(&mut buffer) {
            if send.send((Instant::now() + delay, buffer[..len].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in kept {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}
