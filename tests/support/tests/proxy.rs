//! A proxy does to connections what it is told, and nothing else.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use test_support::{Flavor, Proxy, Server};

const BRIEF: Duration = Duration::from_millis(150);

/// A server that says everything back, and its port.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut from, mut to) = (stream.as_ref().unwrap(), stream.as_ref().unwrap());
            let mut buffer = [0; 1024];
            // One at a time is enough: the tests connect one after the other.
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if to.write_all(&buffer[..length]).is_err() {
                    break;
                }
            }
        }
    });
    port
}

fn connect(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn hear(stream: &mut TcpStream, length: usize) -> String {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Nothing comes for a while, and the connection is open.
fn hear_nothing(stream: &mut TcpStream) {
    let patience = stream.read_timeout().unwrap();
    stream.set_read_timeout(Some(BRIEF)).unwrap();
    let kind = stream.read(&mut [0]).map_err(|e| e.kind());
    assert_eq!(kind, Err(ErrorKind::WouldBlock));
    stream.set_read_timeout(patience).unwrap();
}

/// Waits until the bytes have reached the proxy and gone where they go: it can be seen of none
/// that it has been lost.
fn let_it_come() {
    thread::sleep(BRIEF);
}

#[test]
fn a_server_is_behind_it() {
    for flavor in Flavor::ALL {
        let server = Server::shared(flavor);
        let proxy = Proxy::to(server.port());
        let before = Instant::now();
        let mut connection = redis::Client::open(proxy.url()).unwrap().get_connection().unwrap();
        assert_eq!(redis::cmd("PING").query::<String>(&mut connection).unwrap(), "PONG");
        let made = proxy.connections();
        assert_eq!(made.len(), 1);
        assert!(before < made[0] && made[0] < Instant::now());
        assert!(proxy.requests().bytes() > proxy.replies().bytes());
    }
}

#[test]
fn what_is_delayed_comes_whole_in_order_and_in_time() {
    let proxy = Proxy::to(echo());
    let mut stream = connect(&proxy);
    let delay = Duration::from_millis(200);
    for lane in [proxy.requests(), proxy.replies()] {
        lane.delay(delay);
        let start = Instant::now();
        for piece in ["1", "2", "3", "4"] {
            stream.write_all(piece.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(hear(&mut stream, 1), "1");
        let first = start.elapsed();
        assert_eq!(hear(&mut stream, 3), "234");
        let last = start.elapsed();
        assert!(delay <= first && first < delay * 5, "{first:?}");
        // They were sent 60 ms apart, and so they came.
        assert!(last >= delay + Duration::from_millis(60), "{last:?}");
        lane.pass();
    }
}

#[test]
fn a_delay_that_is_taken_away_is_over_at_once() {
    let proxy = Proxy::to(echo());
    let mut stream = connect(&proxy);
    proxy.replies().delay(Duration::from_mins(1));
    stream.write_all(b"early").unwrap();
    hear_nothing(&mut stream);
    proxy.pass();
    stream.write_all(b"late").unwrap();
    assert_eq!(hear(&mut stream, 9), "earlylate");
}

#[test]
fn what_is_held_comes_when_it_is_let_go() {
    let proxy = Proxy::to(echo());
    let mut stream = connect(&proxy);
    for lane in [proxy.requests(), proxy.replies()] {
        let before = lane.bytes();
        lane.hold();
        stream.write_all(b"abc").unwrap();
        hear_nothing(&mut stream);
        assert_eq!(lane.bytes(), before);
        lane.pass();
        assert_eq!(hear(&mut stream, 3), "abc");
        assert_eq!(lane.bytes(), before + 3);
    }
}

#[test]
fn what_is_lost_never_comes_and_nobody_is_told() {
    let proxy = Proxy::to(echo());
    let mut stream = connect(&proxy);
    for lane in [proxy.requests(), proxy.replies()] {
        lane.hold();
        stream.write_all(b"held").unwrap();
        let_it_come();
        lane.lose();
        stream.write_all(b"lost").unwrap();
        hear_nothing(&mut stream);
        lane.pass();
        stream.write_all(b"kept").unwrap();
        assert_eq!(hear(&mut stream, 4), "kept");
    }
}

#[test]
fn an_end_is_told_when_things_go_through_again() {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = Proxy::to(target.local_addr().unwrap().port());
    let mut client = connect(&proxy);
    let (server, _) = target.accept().unwrap();
    proxy.lose();
    drop(server);
    hear_nothing(&mut client);
    proxy.pass();
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
}

#[test]
fn connections_are_cut_and_made_again() {
    let proxy = Proxy::to(echo());
    let mut first = connect(&proxy);
    first.write_all(b"a").unwrap();
    assert_eq!(hear(&mut first, 1), "a");
    proxy.cut();
    assert_eq!(first.read(&mut [0]).unwrap_or(0), 0);
    let mut second = connect(&proxy);
    second.write_all(b"b").unwrap();
    assert_eq!(hear(&mut second, 1), "b");
    assert_eq!(proxy.connections().len(), 2);
}

#[test]
fn refused_is_refused_and_the_port_stays() {
    let proxy = Proxy::to(echo());
    let mut old = connect(&proxy);
    for _ in 0..3 {
        proxy.refuse();
        let refused = TcpStream::connect(("127.0.0.1", proxy.port())).map_err(|e| e.kind());
        assert_eq!(refused.unwrap_err(), ErrorKind::ConnectionRefused);
        // Those that were made go on.
        old.write_all(b"old").unwrap();
        assert_eq!(hear(&mut old, 3), "old");
        proxy.accept();
    }
    drop(old);
    let mut new = connect(&proxy);
    new.write_all(b"new").unwrap();
    assert_eq!(hear(&mut new, 3), "new");
    assert_eq!(proxy.connections().len(), 2);
}

#[test]
fn who_is_turned_away_is_counted() {
    let proxy = Proxy::to(echo());
    proxy.turn_away();
    for _ in 0..5 {
        assert_eq!(connect(&proxy).read(&mut [0]).unwrap_or(0), 0);
    }
    assert_eq!(proxy.connections().len(), 5);
    proxy.accept();
    let mut stream = connect(&proxy);
    stream.write_all(b"in").unwrap();
    assert_eq!(hear(&mut stream, 2), "in");
}

#[test]
fn new_connections_follow_it_to_another_server() {
    let servers = [Server::start(Flavor::Installed), Server::start(Flavor::Valkey8)];
    let proxy = Proxy::to(servers[0].port());
    let client = redis::Client::open(proxy.url()).unwrap();
    let port = |connection: &mut redis::Connection| {
        let (_, port): (String, u16) =
            redis::cmd("CONFIG").arg("GET").arg("port").query(connection).unwrap();
        port
    };
    let mut old = client.get_connection().unwrap();
    assert_eq!(port(&mut old), servers[0].port());
    proxy.point_to(servers[1].port());
    assert_eq!(port(&mut client.get_connection().unwrap()), servers[1].port());
    assert_eq!(port(&mut old), servers[0].port());
}

#[tokio::test]
async fn it_goes_away_with_its_connections_also_within_a_runtime() {
    let proxy = Proxy::to(echo());
    let mut stream = connect(&proxy);
    let port = proxy.port();
    proxy.refuse();
    proxy.accept();
    drop(proxy);
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
    let refused = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.kind());
    assert_eq!(refused.unwrap_err(), ErrorKind::ConnectionRefused);
}
