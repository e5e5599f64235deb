//! Load finds its way, and is counted rightly.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::time::Duration;

use test_support::{Hit, Load, Picture};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Admits every second request of a connection.
async fn serve(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            for number in 0.. {
                if stream.read(&mut buffer).await.unwrap_or(0) == 0 {
                    return;
                }
                let status = if number % 2 == 0 { "200 OK" } else { "429 Too Many Requests" };
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_paced_over_all_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener));
    let load = Load::new(address, "/").json("{}").connections(10).lasts(Duration::from_millis(500));
    let picture = load.every(Duration::from_millis(5)).run().await;
    // 100 are due; a slow machine sends fewer.
    let sent = picture.hits().len();
    assert!((80..=100).contains(&sent), "{sent} were sent");
    assert_eq!(picture.total(200) + picture.total(429), sent);
    assert!(picture.total(200) >= picture.total(429));
}

#[test]
fn a_picture_counts() {
    let hit = |ms, status| Hit { at: Duration::from_millis(ms), status };
    let picture = Picture::new(vec![hit(250, 200), hit(0, 200), hit(99, 429), hit(100, 200)]);
    let ms = Duration::from_millis;
    assert_eq!(picture.per(ms(100), 200), [1, 1, 1]);
    assert_eq!(picture.per(ms(100), 429), [1, 0, 0]);
    assert_eq!(picture.within(200, ms(0)..ms(100)), 1);
    assert_eq!(picture.total(200), 3);
    assert_eq!(picture.most_within(ms(100), 200), 1);
    assert_eq!(picture.most_within(ms(151), 200), 2);
    assert!(Picture::new(Vec::new()).per(ms(100), 200).is_empty());
}
