//! What goes on after its request: messages of a connection, streams, events.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::task::{Context as Task, Poll};

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::response::sse::{Event, Sse};
use axum::routing::get as route;
use futures_util::{Stream, StreamExt as _, stream};
use ratelimit_kit::{Limiter, RateLimitError, RateLimitLayer, RequestContext, rate_limit};
use test_support::{Link, Log, Node};
use tonic::body::Body;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, BoxStream, Service, http};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Request, Status, Streaming, client, server};
use tonic_prost::ProstCodec;
use tower::service_fn;

use crate::support::client::get;
use crate::support::limiter;
use crate::support::site::serve_router;

#[rate_limit(name = "b137-ip", key = "@ip", algo = fixed_window, limit = 3, window = "1h", limiter = limiter)]
async fn by_ip(limiter: &Limiter) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "b137-user", key = "user", algo = fixed_window, limit = 3, window = "1h", limiter = limiter)]
async fn by_user(limiter: &Limiter, user: &str) -> Result<(), RateLimitError> {
    Ok(())
}

/// The messages of a connection: `ip` needs the context, and any other text is a user.
async fn decide(limiter: &Limiter, message: &str) -> String {
    let decided = match message {
        "ip" => by_ip(limiter).await,
        user => by_user(limiter, user).await,
    };
    decided.map_or_else(|error| error.http_status().to_string(), |()| "200".to_owned())
}

async fn talk(mut socket: WebSocket, limiter: Limiter) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(text) = message else { continue };
        let answer = decide(&limiter, &text).await;
        if socket.send(answer.into()).await.is_err() {
            break;
        }
    }
}

/// The documented way: the context is taken before the upgrade, with which the request ends.
async fn kept(State(limiter): State<Limiter>, upgrade: WebSocketUpgrade) -> Response {
    let context = RequestContext::current();
    upgrade.on_upgrade(async move |socket| match context {
        Some(context) => context.scope(talk(socket, limiter)).await,
        None => talk(socket, limiter).await,
    })
}

async fn lost(State(limiter): State<Limiter>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|socket| talk(socket, limiter))
}

async fn events(
    State(limiter): State<Limiter>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let context = RequestContext::current();
    let five = stream::iter(0..5).then(move |_| {
        let (context, limiter) = (context.clone(), limiter.clone());
        async move {
            let answer = async { decide(&limiter, "ip").await };
            let said = match context {
                Some(context) => context.scope(answer).await,
                None => answer.await,
            };
            Ok(Event::default().data(said))
        }
    });
    Sse::new(five)
}

fn router() -> Router {
    Router::new()
        .route("/kept", route(kept))
        .route("/lost", route(lost))
        .route("/events", route(events))
        .with_state(limiter())
        .layer(RateLimitLayer::new())
}

/// One end of a WebSocket, for messages of less than 126 bytes.
pub(crate) struct Socket(TcpStream);

impl Socket {
    pub(crate) fn open(address: SocketAddr, path: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(stream)
    }

    /// The answer to a message.
    pub(crate) fn say(&mut self, message: &str) -> String {
        // A final text frame, masked with zeros.
        let length = 0x80 | u8::try_from(message.len()).unwrap();
        let frame = [&[0x81, length, 0, 0, 0, 0], message.as_bytes()].concat();
        self.0.write_all(&frame).unwrap();
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        assert_eq!(head[0], 0x81, "a text");
        let mut answer = vec![0; head[1].into()];
        self.0.read_exact(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    pub(crate) fn times(&mut self, n: usize, message: &str) -> Vec<String> {
        (0..n).map(|_| self.say(message)).collect()
    }
}

#[test]
fn b137_messages_of_a_websocket() {
    let address = serve_router(router());
    let (mut first, mut second) = (Socket::open(address, "/kept"), Socket::open(address, "/kept"));
    assert_eq!(first.times(5, "ip"), ["200", "200", "200", "429", "429"]);
    assert_eq!(second.times(2, "ip"), ["429", "429"], "one address");
    // A key that needs no request.
    assert_eq!(first.times(4, "ann"), ["200", "200", "200", "429"]);
    assert_eq!(second.times(2, "ann"), ["429", "429"]);
    assert_eq!(second.say("bob"), "200");
    // Without the context no budget is used, and none is shared.
    let mut lost = Socket::open(address, "/lost");
    assert_eq!(lost.times(3, "ip"), ["500", "500", "500"]);
    assert_eq!(lost.say("bob"), "200");
}

#[test]
fn b137_without_the_context_a_line_says_where_to_read() {
    let log = Log::default();
    let said = log.during(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let service = router().into_make_service_with_connect_info::<SocketAddr>();
            tokio::spawn(axum::serve(listener, service).into_future());
            let talk = move || Socket::open(address, "/lost").times(100, "ip");
            tokio::task::spawn_blocking(talk).await.unwrap()
        })
    });
    assert_eq!(said, ["500"; 100]);
    let lines = log.lines("`b137-ip`");
    assert!(lines.len() <= 1, "{lines:?}");
    let guide = include_str!("../../docs/http.md");
    assert!(guide.contains("\n## Messages of a connection\n"), "the section that the error names");
    let error = ratelimit_kit::InvalidCall::NoContext { rule: "r".to_owned() }.to_string();
    assert!(error.contains("\"Messages of a connection\" in docs/http.md"), "{error}");
    assert!(lines.iter().all(|line| line.contains(&error.replace("`r`", "`b137-ip`"))));
}

#[test]
fn b137_events_of_a_response() {
    let address = serve_router(router());
    let body = get("/events").to(address).body;
    let said: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(said, ["200", "200", "200", "429", "429"]);
}

/// Work on a thread of its own takes the context along as well.
#[tokio::test]
async fn b137_work_that_blocks() {
    #[rate_limit(name = "b137-blocking", key = "@ip", algo = fixed_window, limit = 3, window = "1h", limiter = limiter)]
    fn work(limiter: &Limiter) -> Result<(), RateLimitError> {
        Ok(())
    }
    let limiter = limiter();
    let context = RequestContext::builder().ip([203, 0, 113, 1].into()).build();
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let (context, limiter) = (context.clone(), limiter.clone());
        let run = move || context.scope_blocking(|| work(&limiter));
        let done = tokio::task::spawn_blocking(run).await.unwrap();
        statuses.push(done.map_or_else(|error| error.http_status(), |()| 200));
    }
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let lost = tokio::task::spawn_blocking(move || work(&limiter)).await.unwrap();
    assert_eq!(lost.unwrap_err().http_status(), 500);
}

/// A connection keeps nothing of its messages.
#[test]
fn b137_many_messages_take_no_memory() {
    if let Some(mut link) = Link::attach() {
        let address = serve_router(router());
        let mut socket = Socket::open(address, "/kept");
        let mut say = |n| (0..n).for_each(|_| assert_ne!(socket.say("ip"), "500"));
        say(20_000);
        for _ in 0..3 {
            link.send(kib());
            say(100_000);
        }
        return link.send(kib());
    }
    let mut node = Node::start("connections::b137_many_messages_take_no_memory");
    let mut kib = || node.recv().parse::<u64>().unwrap();
    let mut seen = vec![kib()];
    // A page here and there is the allocator's; what a message left would be seen each time.
    while seen.len() < 4 {
        seen.push(kib());
        if seen.windows(2).any(|two| two[1] < two[0] + 64) {
            return;
        }
    }
    panic!("{seen:?} KiB");
}

fn kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[derive(Clone, PartialEq, prost::Message)]
struct Text {
    #[prost(string, tag = "1")]
    said: String,
}

const TALK: &str = "/tests.Talk/Talk";

/// A service with one bidirectional method, as generated code has it.
#[derive(Clone)]
struct Talk(Limiter);

impl server::NamedService for Talk {
    const NAME: &'static str = "tests.Talk";
}

impl Service<http::Request<Body>> for Talk {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Task<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let limiter = Arc::new(self.0.clone());
        Box::pin(async move {
            let talk = service_fn(move |request: Request<Streaming<Text>>| {
                let limiter = limiter.clone();
                async move {
                    // Before the stream is read: then the call has been answered, and its context is gone.
                    let context = RequestContext::current().unwrap();
                    let answers = request.into_inner().then(move |text| {
                        let (context, limiter) = (context.clone(), limiter.clone());
                        context.scope(async move {
                            let said = decide(&limiter, &text?.said).await;
                            Ok(Text { said })
                        })
                    });
                    let answers: BoxStream<Text> = Box::pin(answers);
                    Ok(tonic::Response::new(answers))
                }
            });
            Ok(server::Grpc::new(ProstCodec::default()).streaming(talk, request).await)
        })
    }
}

async fn says(channel: &Channel, messages: &[&str]) -> Vec<String> {
    let mut client = client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let messages: Vec<Text> =
        messages.iter().map(|said| Text { said: (*said).to_owned() }).collect();
    let request = Request::new(stream::iter(messages));
    let path = PathAndQuery::from_static(TALK);
    let codec = ProstCodec::<Text, Text>::default();
    let answers = client.streaming(request, path, codec).await.unwrap().into_inner();
    answers.map(|text: Result<Text, Status>| text.unwrap().said).collect().await
}

#[tokio::test]
async fn b137_messages_of_a_grpc_stream() {
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap();
    let server = Server::builder().layer(RateLimitLayer::new()).add_service(Talk(limiter()));
    tokio::spawn(server.serve_with_incoming(incoming));
    let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
    let (one, other) = (endpoint.connect().await.unwrap(), endpoint.connect().await.unwrap());
    assert_eq!(says(&one, &["ip"; 5]).await, ["200", "200", "200", "429", "429"]);
    assert_eq!(says(&other, &["ip", "ip"]).await, ["429", "429"], "one address");
    assert_eq!(says(&other, &["ann"; 4]).await, ["200", "200", "200", "429"]);
}
