//! Where frameworks keep the address of the other end of the connection.

use std::net::{IpAddr, SocketAddr};

use http::Extensions;

pub(super) fn of(extensions: &Extensions) -> Option<IpAddr> {
    #[cfg(feature = "axum")]
    if let Some(axum::extract::ConnectInfo(peer)) = extensions.get() {
        let peer: &SocketAddr = peer;
        return Some(peer.ip());
    }
    // What axum has for tests of handlers that ask for it.
    #[cfg(feature = "axum")]
    if let Some(axum::extract::connect_info::MockConnectInfo(peer)) = extensions.get() {
        let peer: &SocketAddr = peer;
        return Some(peer.ip());
    }
    #[cfg(feature = "tonic")]
    if let Some(info) = extensions.get::<tonic::transport::server::TcpConnectInfo>() {
        return info.remote_addr().map(|peer| peer.ip());
    }
    extensions.get::<SocketAddr>().map(SocketAddr::ip)
}
