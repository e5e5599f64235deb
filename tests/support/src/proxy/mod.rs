//! What stands between a client and a server, and can be bad.

mod lane;

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use tokio::net::TcpStream;

pub use self::lane::Lane;
use crate::door::Door;
use crate::port::Port;

/// Relays connections to a port, and does with them what networks do on bad nights.
///
/// Each direction, [`requests`](Self::requests) and [`replies`](Self::replies), is a [`Lane`]
/// of its own. It needs no runtime of the test's, and goes away with its connections when it is
/// dropped.
///
/// ```no_run
/// # use std::time::Duration;
/// # use test_support::{Flavor, Proxy, Server};
/// let server = Server::shared(Flavor::Installed);
/// let proxy = Proxy::to(server.port());
/// // ... with a client of `proxy.url()`:
/// proxy.replies().delay(Duration::from_millis(300)); // a slow network
/// proxy.replies().hold(); // the answer is on its way ...
/// proxy.replies().pass(); // ... and comes now
/// proxy.requests().lose(); // a black hole, in which connections stay open
/// proxy.cut(); // all connections end
/// proxy.refuse(); // and no new one can be made
/// ```
#[derive(Debug)]
pub struct Proxy {
    door: Door,
    route: Arc<Route>,
}

#[derive(Debug)]
struct Route {
    target: AtomicU16,
    requests: Lane,
    replies: Lane,
}

impl Proxy {
    /// A proxy in front of a port of the loopback interface.
    pub fn to(port: u16) -> Self {
        let route = Route {
            target: AtomicU16::new(port),
            requests: Lane::default(),
            replies: Lane::default(),
        };
        let proxy = Self { door: Door::new("proxy", Port::free()), route: Arc::new(route) };
        proxy.accept();
        proxy
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.door.port()
    }

    /// Its address for clients: `redis://127.0.0.1:port/`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port())
    }

    /// From clients to the server.
    pub fn requests(&self) -> &Lane {
        &self.route.requests
    }

    /// From the server to clients.
    pub fn replies(&self) -> &Lane {
        &self.route.replies
    }

    /// Lets both directions be: what was kept or delayed goes on its way at once.
    pub fn pass(&self) {
        self.requests().pass();
        self.replies().pass();
    }

    /// A black hole in both directions: connections stay open, and can be made.
    pub fn lose(&self) {
        self.requests().lose();
        self.replies().lose();
    }

    /// Ends all connections, with whatever is on its way in them.
    pub fn cut(&self) {
        self.door.cut();
    }

    /// Refuses connections from now on, as a port does on which nobody listens; [`cut`](Self::cut)
    /// ends those that were made. The port stays the proxy's.
    pub fn refuse(&self) {
        self.door.close();
    }

    /// Ends each connection as soon as it is made, from now on. Unlike refused ones, which the
    /// kernel answers alone, these are counted.
    pub fn turn_away(&self) {
        self.door.close();
        self.door.open(async |stream| drop(stream));
    }

    /// Accepts connections again, on the same port.
    pub fn accept(&self) {
        self.door.close();
        let route = Arc::clone(&self.route);
        self.door.open(move |stream| relay(stream, Arc::clone(&route)));
    }

    /// Leads new connections to another port, as a name does that points to another server now;
    /// those that were made stay where they are.
    pub fn point_to(&self, port: u16) {
        self.route.target.store(port, Ordering::SeqCst);
    }

    /// When connections were made, those included that were turned away, from the first on.
    pub fn connections(&self) -> Vec<Instant> {
        self.door.made()
    }
}

async fn relay(client: TcpStream, route: Arc<Route>) {
    // A server that is not there ends the connection.
    let target = route.target.load(Ordering::SeqCst);
    let Ok(server) = TcpStream::connect(("127.0.0.1", target)).await else { return };
    server.set_nodelay(true).unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::join!(
        route.requests.carry(from_client, to_server),
        route.replies.carry(from_server, to_client),
    );
}
