//! Load over HTTP, and the picture that it gives.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// One kind of request, over many connections, for some time.
#[derive(Clone, Debug)]
pub struct Load {
    address: SocketAddr,
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
    connections: usize,
    lasts: Duration,
    every: Option<Duration>,
}

impl Load {
    /// `GET path`, over one connection, for one second, each request right after the last answer.
    pub fn new(address: SocketAddr, path: &str) -> Self {
        Self {
            address,
            method: Method::GET,
            path: path.to_owned(),
            headers: Vec::new(),
            body: Bytes::new(),
            connections: 1,
            lasts: Duration::from_secs(1),
            every: None,
        }
    }

    /// `POST` with a JSON body instead.
    #[must_use]
    pub fn json(mut self, body: &str) -> Self {
        self.method = Method::POST;
        self.body = Bytes::copy_from_slice(body.as_bytes());
        self.header("content-type", "application/json")
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// So many connections at once.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// For so long.
    #[must_use]
    pub fn lasts(mut self, lasts: Duration) -> Self {
        self.lasts = lasts;
        self
    }

    /// One request in each `every`, over all connections together and evenly spread, instead of
    /// as many as the server can answer.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.every = Some(every);
        self
    }

    /// Opens all connections, then starts the clock and the requests. Every request gets an
    /// answer: anything else fails the test.
    pub async fn run(self) -> Picture {
        let load = Arc::new(self);
        let ready = Arc::new(Barrier::new(load.connections));
        let mut tasks = JoinSet::new();
        for number in 0..load.connections {
            tasks.spawn(one_connection(Arc::clone(&load), number, Arc::clone(&ready)));
        }
        let mut timed = Vec::new();
        while let Some(answers) = tasks.join_next().await {
            timed.extend(answers.unwrap());
        }
        // The barrier lets tasks go one by one: the first of them starts the clock for all.
        let start = timed.iter().map(|answer| answer.asked).min().expect("no request was sent");
        let hit = |answer: Answer| Hit { at: answer.answered - start, status: answer.status };
        let mut hits: Vec<Hit> = timed.into_iter().map(hit).collect();
        hits.sort_by_key(|hit| hit.at);
        Picture { hits }
    }

    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(&self.path)
            .header("host", self.address.to_string());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(self.body.clone())).unwrap()
    }
}

struct Answer {
    asked: Instant,
    answered: Instant,
    status: u16,
}

async fn one_connection(load: Arc<Load>, number: usize, ready: Arc<Barrier>) -> Vec<Answer> {
    let stream = TcpStream::connect(load.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driver = tokio::spawn(connection);
    ready.wait().await;

    let begin = Instant::now();
    let connections = u32::try_from(load.connections).unwrap();
    let mut next = begin + load.every.unwrap_or_default() * u32::try_from(number).unwrap();
    let mut answers = Vec::new();
    loop {
        if let Some(every) = load.every {
            tokio::time::sleep_until(next).await;
            next += every * connections;
        }
        if begin.elapsed() >= load.lasts {
            break;
        }
        answers.push(ask(&mut sender, &load).await);
    }
    driver.abort();
    answers
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, load: &Load) -> Answer {
    let request = load.request();
    sender.ready().await.unwrap();
    let asked = Instant::now();
    let response = sender.send_request(request).await.unwrap();
    let status = response.status().as_u16();
    // To the end, or the connection cannot be used again.
    response.into_body().collect().await.unwrap();
    Answer { asked, answered: Instant::now(), status }
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// When it came, counted from the first request.
    pub at: Duration,
    /// Its status.
    pub status: u16,
}

/// All answers of a load, in the order in which they came.
#[derive(Clone, Debug)]
pub struct Picture {
    hits: Vec<Hit>,
}

impl Picture {
    /// A picture of answers that were counted in another way.
    pub fn new(mut hits: Vec<Hit>) -> Self {
        hits.sort_by_key(|hit| hit.at);
        Self { hits }
    }

    /// All answers.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// How many answers had this status.
    pub fn total(&self, status: u16) -> usize {
        self.hits.iter().filter(|hit| hit.status == status).count()
    }

    /// How many answers with this status came in a time.
    pub fn within(&self, status: u16, time: Range<Duration>) -> usize {
        self.hits.iter().filter(|hit| hit.status == status && time.contains(&hit.at)).count()
    }

    /// The answers with this status, counted per `width`, from the first request to the last answer.
    pub fn per(&self, width: Duration, status: u16) -> Vec<usize> {
        let bucket = |hit: &Hit| usize::try_from(hit.at.as_nanos() / width.as_nanos()).unwrap();
        let mut buckets = vec![0; self.hits.last().map_or(0, |last| bucket(last) + 1)];
        for hit in self.hits.iter().filter(|hit| hit.status == status) {
            buckets[bucket(hit)] += 1;
        }
        buckets
    }

    /// The most answers with this status in any span of this length, its end excluded.
    pub fn most_within(&self, span: Duration, status: u16) -> usize {
        let times: Vec<Duration> =
            self.hits.iter().filter(|hit| hit.status == status).map(|hit| hit.at).collect();
        let ends = times.iter().map(|start| times.partition_point(|at| *at < *start + span));
        ends.enumerate().map(|(start, end)| end - start).max().unwrap_or(0)
    }
}
