//! A stub says what it is told to say, and remembers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, ErrorKind, RedisResult, ServerErrorKind};
use test_support::{Call, Flavor, Reply, Server, Stub};

fn connect(url: &str) -> RedisResult<Connection> {
    let client = redis::Client::open(url).unwrap();
    let connection = client.get_connection_with_timeout(Duration::from_secs(1))?;
    connection.set_read_timeout(Some(Duration::from_millis(500)))?;
    Ok(connection)
}

fn check<T: redis::FromRedisValue>(connection: &mut Connection) -> RedisResult<T> {
    redis::cmd("EVALSHA").arg("abc").arg(1).arg("key").query(connection)
}

fn refuses(url: &str) -> bool {
    connect(url).is_err_and(|e| e.is_connection_refusal())
}

/// A stub whose answer to the check is this.
fn answering(reply: Reply) -> Stub {
    Stub::start(move |words| match words[0].as_slice() {
        b"EVALSHA" => reply.clone(),
        _ => Reply::Usual,
    })
}

#[test]
fn clients_take_it_for_a_server() {
    let stub = answering(Reply::array([Reply::integer(1), Reply::bulk("two")]));
    for protocol in ["", "?protocol=resp3"] {
        let url = format!("{}{protocol}", stub.url().replace("redis://", "redis://user:word@"));
        let mut connection = connect(&url).unwrap();
        assert_eq!(check::<(u8, String)>(&mut connection).unwrap(), (1, "two".to_owned()));
        let info: String = redis::cmd("INFO").arg("server").query(&mut connection).unwrap();
        assert!(info.contains("redis_version:7.0.0"));
        let unknown = redis::cmd("GET").arg("x").query::<()>(&mut connection).unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::Server(ServerErrorKind::ResponseError));
    }
    assert_eq!(stub.calls("evalsha")[0].words[3], b"key");
    assert!(!stub.calls("CLIENT").is_empty());
    assert_eq!(stub.connections().len(), 2);
}

#[test]
fn errors_and_garbage_come_as_they_are() {
    let stub = answering(Reply::error("BUSY a script runs"));
    let error = check::<()>(&mut connect(&stub.url()).unwrap()).unwrap_err();
    assert_eq!(error.code(), Some("BUSY"));
    let stub = answering(Reply::Raw(b"!?\r\n\r\n".to_vec()));
    let error = check::<()>(&mut connect(&stub.url()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parse);
    let stub = answering(Reply::Close);
    let error = check::<()>(&mut connect(&stub.url()).unwrap()).unwrap_err();
    assert!(error.is_connection_dropped(), "{error}");
}

#[test]
fn silence_is_outstanding_until_the_connection_ends() {
    let stub = answering(Reply::Silence);
    let mut connections = [connect(&stub.url()).unwrap(), connect(&stub.url()).unwrap()];
    for connection in &mut connections {
        assert!(check::<()>(connection).unwrap_err().is_timeout());
    }
    let calls = stub.calls("EVALSHA");
    assert!(calls[0].at < calls[1].at);
    assert!(calls.iter().all(|call| call.done.is_none()));
    assert_eq!(Call::most_outstanding(&calls), 2);
    // What it has answered is not outstanding.
    let answered = stub.calls("CLIENT");
    assert!(!answered.is_empty() && answered.iter().all(|call| call.done.is_some()));
    assert_eq!(Call::most_outstanding(&answered), 1);
    stub.cut();
    let calls = stub.calls("EVALSHA");
    assert!(calls.iter().all(|call| call.done.is_some()));

    // Answers can change.
    stub.answer(|_| Reply::simple("OK"));
    assert_eq!(check::<String>(&mut connect(&stub.url()).unwrap()).unwrap(), "OK");
}

#[test]
fn nothing_is_taken_for_the_answer_that_was_never_given() {
    let stub = answering(Reply::Silence);
    let mut stream = TcpStream::connect(("127.0.0.1", stub.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    stream.write_all(b"*1\r\n$4\r\nPING\r\n").unwrap();
    let mut pong = [0; 7];
    stream.read_exact(&mut pong).unwrap();
    stream.write_all(b"*1\r\n$7\r\nEVALSHA\r\n*1\r\n$4\r\nPING\r\n").unwrap();
    assert!(stream.read(&mut pong).is_err());
    assert_eq!(stub.everything().len(), 3);
}

#[test]
fn silence_from_the_first_word_on() {
    let stub = Stub::start(|_| Reply::Silence);
    let before = Instant::now();
    assert!(connect(&stub.url()).is_err());
    assert!(before.elapsed() >= Duration::from_secs(1));
    assert_eq!(stub.connections().len(), 1);
}

#[test]
fn a_server_takes_over_its_port_and_gives_it_back() {
    for flavor in Flavor::ALL {
        let stub = Stub::start(|_| Reply::Usual);
        let mut connection = connect(&stub.url()).unwrap();
        stub.stop();
        assert!(redis::cmd("PING").query::<()>(&mut connection).is_err());
        assert!(refuses(&stub.url()));

        let mut server = Server::builder(flavor).port(stub.port()).start();
        assert_eq!(server.url(), stub.url());
        redis::cmd("SET").arg("a").arg(1).exec(&mut connect(&stub.url()).unwrap()).unwrap();
        server.kill();
        assert!(refuses(&stub.url()));

        stub.listen();
        connect(&stub.url()).unwrap();
        drop(stub);
        let stub = Stub::on(server.port(), |_| Reply::simple("PONG"));
        connect(&stub.url()).unwrap();
        drop(stub);
        server.start_again();
        connect(&server.url()).unwrap();
    }
}

#[test]
fn commands_in_one_packet_are_answered_one_by_one() {
    let stub = Stub::start(|words| match words[0].as_slice() {
        b"ECHO" => Reply::bulk(&words[1]),
        _ => Reply::Usual,
    });
    let mut connection = connect(&stub.url()).unwrap();
    let mut pipe = redis::pipe();
    for number in 0..100 {
        pipe.cmd("ECHO").arg(number);
    }
    let numbers: Vec<u32> = pipe.query(&mut connection).unwrap();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| pipe.exec(&mut connect(&stub.url()).unwrap()).unwrap());
        }
    });
    assert_eq!(stub.calls("ECHO").len(), 500);
}
