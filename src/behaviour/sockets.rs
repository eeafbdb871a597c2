//! Connections of a sandbox: sockets in its folder or, where that cannot hold any, ports of 127.0.0.1.

use crate::trial::sockets::Sockets;
use serde_json::{Value, json};
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// A bidirectional stream.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection of any kind.
pub(super) type Connection = Pin<Box<dyn Stream>>;

/// The address of an Envoy listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    File(PathBuf),
    Port(u16),
}

impl Place {
    pub(super) async fn connect(&self) -> io::Result<Connection> {
        Ok(match self {
            Place::File(path) => Box::pin(UnixStream::connect(path).await?),
            Place::Port(port) => {
                let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).await?;
                stream.set_nodelay(true)?;
                Box::pin(stream)
            }
        })
    }
}

/// The address of a future stub. A port is bound immediately, since Envoy must know its number.
#[derive(Debug)]
pub(super) enum Endpoint {
    File(String),
    Port(std::net::TcpListener, u16),
}

impl Endpoint {
    pub(super) fn new(sockets: Sockets, number: usize) -> io::Result<Endpoint> {
        match sockets {
            Sockets::Folder => Ok(Endpoint::File(format!("u{number}"))),
            Sockets::Loopback => {
                let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                listener.set_nonblocking(true)?;
                let port = listener.local_addr()?.port();
                Ok(Endpoint::Port(listener, port))
            }
        }
    }

    /// The address for Envoy.
    pub(super) fn address(&self) -> Value {
        match self {
            Endpoint::File(file) => json!({"pipe": {"path": format!("./{file}")}}),
            Endpoint::Port(_, port) => json!({"socket_address": {"address": "127.0.0.1", "port_value": port}}),
        }
    }

    /// Starts to listen, in the folder of the sandbox.
    pub(super) fn listen(self, folder: &Path) -> io::Result<Listener> {
        Ok(match self {
            Endpoint::File(file) => Listener::File(UnixListener::bind(folder.join(file))?),
            Endpoint::Port(listener, _) => Listener::Port(TcpListener::from_std(listener)?),
        })
    }
}

/// A stub that listens.
pub(super) enum Listener {
    File(UnixListener),
    Port(TcpListener),
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<Connection> {
        Ok(match self {
            Listener::File(listener) => Box::pin(listener.accept().await?.0),
            Listener::Port(listener) => {
                let stream = listener.accept().await?.0;
                stream.set_nodelay(true)?;
                Box::pin(stream)
            }
        })
    }
}
