//! The whole server: watches, certificates, listeners, shutdown.

use super::connections::{Admit, Connections, FIRST};
use super::feed;
use super::judge::Rules;
use super::keeper::{Keeper, Keeping, Served};
use super::server::{Limits, Reviewer, measures, probes, webhook};
use super::snapshot::Overrides;
use super::tls;
use crate::cluster::Cluster;
use crate::source::ErrorMessage;
use axum::Router;
use axum_server::Handle;
use axum_server::accept::DefaultAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

/// Source of the certificates.
#[derive(Clone, Debug)]
pub(crate) enum Certificates {
    /// Files that something else renews.
    Files {
        /// The certificate chain.
        cert: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// The server's own, in a Secret.
    Own(Keeping),
}

/// Settings of a server.
#[derive(Clone, Debug)]
pub(crate) struct Serve {
    /// Address for the API server.
    pub listen: SocketAddr,
    /// Address for kubelet.
    pub probes: SocketAddr,
    /// Address for Prometheus.
    pub metrics: SocketAddr,
    /// Authorities of the clients that may request reviews, as a PEM file; `None`: all clients.
    pub client_ca: Option<PathBuf>,
    /// Limits of reviews.
    pub limits: Limits,
    /// Settings that override the cluster's.
    pub overrides: Overrides,
    /// Namespace of istiod.
    pub istio_namespace: String,
    /// Number of proxies whose extensions are sampled.
    pub sample_proxies: usize,
    /// Source of the certificates.
    pub certificates: Certificates,
    /// How long to keep serving after the signal, until clients have noticed.
    pub shutdown_delay: Duration,
}

/// How often certificate files are checked.
const LOOK: Duration = Duration::from_secs(2);
/// How long running reviews may take during shutdown.
const DRAIN: Duration = Duration::from_secs(30);

/// Serves until a signal. Fails with a message for the user.
pub(crate) async fn serve(cluster: Cluster, serve: Serve, rules: Rules) -> Result<(), ErrorMessage> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let (mut builder, health) = feed::builder(serve.overrides);
    let reviewer = Arc::new(Reviewer::new(serve.limits, rules, builder.snapshot(), health));
    let clients = serve.client_ca.as_deref().map(text).transpose()?;
    let listeners = [
        ("metrics", listen(serve.metrics)?, measures(Arc::clone(&reviewer))),
        ("probes", listen(serve.probes)?, probes(Arc::clone(&reviewer))),
    ];
    let mut aside_handles = Vec::new();
    for (name, listener, router) in listeners {
        tracing::info!(address = %address(&listener), "{name}");
        aside_handles.push(beside(name, listener, router)?);
    }
    tokio::spawn(feed::run(
        cluster.clone(),
        serve.istio_namespace,
        serve.sample_proxies,
        builder,
        Arc::clone(&reviewer),
    ));
    let (mut keeper, first) = match serve.certificates {
        Certificates::Files { cert, key } => {
            let pair = read(&cert, &key)?;
            (Renewal::Files { cert, key, pair: pair.clone() }, pair)
        }
        Certificates::Own(keeping) => {
            let mut keeper = Keeper::new(&cluster, keeping);
            let pair = tokio::select! {
                pair = first(&mut keeper, &reviewer) => pair,
                _ = terminate.recv() => return Ok(()),
                _ = interrupt.recv() => return Ok(()),
            };
            (Renewal::Own(Box::new(keeper)), pair)
        }
    };
    let tls = tls::config(&first.0, &first.1, clients.as_deref()).map_err(|error| error.to_string())?;
    let tls = RustlsConfig::from_config(tls);
    let listener = listen(serve.listen)?;
    tracing::info!(address = %address(&listener), "listening");
    let handle: Handle<SocketAddr> = Handle::new();
    let acceptor = RustlsAcceptor::new(tls.clone()).handshake_timeout(FIRST);
    let acceptor = Admit::new(Arc::clone(&reviewer.connections), acceptor);
    let server = server(listener)?.acceptor(acceptor).handle(handle.clone());
    let mut server = tokio::spawn(server.serve(service(webhook(Arc::clone(&reviewer)))));
    reviewer.health.serving();
    let renewing = Arc::clone(&reviewer);
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let renewal = tokio::spawn(async move {
        loop {
            tokio::select! {
                () = sleep(keeper.interval()) => keeper.renew(&tls, clients.as_deref(), &renewing).await,
                _ = &mut stopped => break,
            }
        }
        if let Renewal::Own(keeper) = &mut keeper {
            keeper.leave().await;
        }
    });
    tokio::select! {
        ended = &mut server => {
            let words = match ended {
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
                Ok(Ok(())) => "the server stopped unexpectedly".to_owned(),
            };
            return Err(words.into());
        }
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    reviewer.health.stopping();
    // Clients may still have the address of this replica.
    sleep(serve.shutdown_delay).await;
    handle.graceful_shutdown(Some(DRAIN));
    let _ = (&mut server).await;
    let _ = stop.send(());
    let _ = tokio::time::timeout(LOOK, renewal).await;
    aside_handles.iter().for_each(Handle::shutdown);
    tracing::info!("stopped");
    Ok(())
}

/// Serves plain HTTP to few clients, until the handle stops it. Fails with a message for the user.
pub fn beside(name: &'static str, listener: TcpListener, router: Router) -> Result<Handle<SocketAddr>, ErrorMessage> {
    let handle: Handle<SocketAddr> = Handle::new();
    let connections = Connections::new(ASIDE);
    let server = server(listener)?.acceptor(Admit::new(connections, DefaultAcceptor::new())).handle(handle.clone());
    let serving = server.serve(service(router));
    tokio::spawn(async move {
        if let Err(error) = serving.await {
            tracing::error!(%error, name, "no longer serving");
        }
    });
    Ok(handle)
}

/// The source of new certificates.
enum Renewal {
    Files { cert: PathBuf, key: PathBuf, pair: (String, String) },
    Own(Box<Keeper>),
}

impl Renewal {
    fn interval(&self) -> Duration {
        match self {
            Renewal::Files { .. } => LOOK,
            Renewal::Own(keeper) => keeper.interval(),
        }
    }

    /// Switches to a new certificate; on failure the old one stays.
    async fn renew(&mut self, tls: &RustlsConfig, clients: Option<&str>, reviewer: &Reviewer) {
        let serve_with = |cert: &str, key: &str| {
            let config = tls::config(cert, key, clients).map_err(|error| error.to_string())?;
            tls.reload_from_config(config);
            Ok(())
        };
        let done = match self {
            Renewal::Files { cert, key, pair } => match read(cert, key) {
                Ok(new) if new == *pair => return,
                // The two files change one after the other: a mismatch is retried.
                Ok(new) => serve_with(&new.0, &new.1).map(|()| *pair = new),
                Err(words) => Err(words),
            },
            Renewal::Own(keeper) => match keeper.look(&reviewer.metrics).await {
                Ok(Served::New(store)) => serve_with(&store.serving.cert, &store.serving.key),
                Ok(_) => return,
                Err(words) => Err(words),
            },
        };
        match done {
            Ok(()) => tracing::info!("serving with a new certificate"),
            Err(error) => tracing::warn!(words = &*error, "cannot renew the certificate"),
        }
    }
}

/// Waits for the first certificate, from this replica or the leader.
async fn first(keeper: &mut Keeper, reviewer: &Reviewer) -> (String, String) {
    loop {
        match keeper.look(&reviewer.metrics).await {
            Ok(Served::New(store)) => return (store.serving.cert, store.serving.key),
            Ok(_) => {}
            Err(error) => tracing::warn!(words = &*error, "no certificate yet"),
        }
        sleep(keeper.interval().min(Duration::from_secs(1))).await;
    }
}

fn read(cert: &Path, key: &Path) -> Result<(String, String), ErrorMessage> {
    Ok((text(cert)?, text(key)?))
}

fn text(path: &Path) -> Result<String, ErrorMessage> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Maximum number of connections of each listener for kubelet and Prometheus.
const ASIDE: usize = 32;
/// Maximum number of open requests on one HTTP/2 connection: an API server opens another connection beyond.
const STREAMS: u32 = 128;
/// Maximum size of a request's headers, in bytes.
const HEADERS: u32 = 16 << 10;

/// Routes with the address of the client.
fn service(router: Router) -> axum::extract::connect_info::IntoMakeServiceWithConnectInfo<Router, SocketAddr> {
    router.into_make_service_with_connect_info::<SocketAddr>()
}

/// A socket to serve on. Fails with a message for the user.
pub fn listen(address: SocketAddr) -> Result<TcpListener, ErrorMessage> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        // The standard library lets 128 connections wait. When untrusted clients open more at once, the kernel drops further
        // ones, and the API server retries after a second, then after two more.
        rustix::net::listen(&listener, WAITING)?;
        Ok(listener)
    });
    listener.map_err(|error| format!("cannot listen on {address}: {error}").into())
}

/// Number of connections that may wait to be accepted; the kernel allows no more than `net.core.somaxconn`.
const WAITING: i32 = 4_096;

/// A server that waits for headers no longer than [`FIRST`], and accepts only few of them.
fn server(listener: TcpListener) -> Result<axum_server::Server<SocketAddr>, ErrorMessage> {
    let mut server = axum_server::from_tcp(listener).map_err(|error| error.to_string())?;
    let http = server.http_builder();
    http.http1().timer(TokioTimer::new()).header_read_timeout(FIRST).max_buf_size(HEADERS as usize);
    http.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS).max_header_list_size(HEADERS);
    Ok(server)
}

fn address(listener: &TcpListener) -> String {
    listener.local_addr().map(|address| address.to_string()).unwrap_or_default()
}
