//! The server as a whole: watches, certificates, listeners, and their end.

use super::judge::Rules;
use super::keeper::{Keeper, Keeping, Served, serve_with};
use super::librarian;
use super::server::{Limits, Reviewer, aside, webhook};
use super::world::Said;
use crate::cluster::Cluster;
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

/// Where certificates come from.
#[derive(Clone, Debug)]
pub enum Certificates {
    /// Files that somebody else renews.
    Files {
        /// The certificate, with those of intermediate authorities.
        cert: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// The server's own, in a Secret.
    Own(Keeping),
}

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Serve {
    /// Where the API server calls.
    pub listen: SocketAddr,
    /// Where kubelet and Prometheus call.
    pub metrics: SocketAddr,
    /// How reviews are made.
    pub limits: Limits,
    /// What is said over what the cluster tells.
    pub said: Said,
    /// Where istiod runs.
    pub istio_namespace: String,
    /// How many running proxies are asked for the extensions they are built with.
    pub sample_proxies: usize,
    /// Where certificates come from.
    pub certificates: Certificates,
    /// How long to go on serving after the signal to end, until nobody calls here any more.
    pub shutdown_delay: Duration,
}

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How long reviews may take that have begun when the server ends.
const DRAIN: Duration = Duration::from_secs(30);

/// Serves until a signal ends it. Fails with what to tell the user.
pub async fn serve(cluster: Cluster, serve: Serve, rules: Rules) -> Result<(), String> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let (mut library, health) = librarian::library(serve.said);
    let reviewer = Arc::new(Reviewer::new(serve.limits, rules, library.world(), health));
    let metrics = listen(serve.metrics)?;
    tracing::info!(address = %address(&metrics), "metrics");
    let aside_handle: Handle<SocketAddr> = Handle::new();
    let aside = server(metrics)?.handle(aside_handle.clone()).serve(aside(Arc::clone(&reviewer)).into_make_service());
    tokio::spawn(async move {
        if let Err(error) = aside.await {
            tracing::error!(%error, "metrics are served no more");
        }
    });
    tokio::spawn(librarian::run(
        cluster.clone(),
        serve.istio_namespace,
        serve.sample_proxies,
        library,
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
    let tls = RustlsConfig::from_pem(first.0.into_bytes(), first.1.into_bytes()).await;
    let tls = tls.map_err(|error| format!("the certificate cannot be used: {error}"))?;
    let listener = listen(serve.listen)?;
    tracing::info!(address = %address(&listener), "listening");
    let handle: Handle<SocketAddr> = Handle::new();
    let acceptor = axum_server::tls_rustls::RustlsAcceptor::new(tls.clone());
    let server = server(listener)?.acceptor(acceptor).handle(handle.clone());
    let mut server = tokio::spawn(server.serve(webhook(Arc::clone(&reviewer)).into_make_service()));
    reviewer.health.serving();
    let renewing = Arc::clone(&reviewer);
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let renewal = tokio::spawn(async move {
        loop {
            tokio::select! {
                () = sleep(keeper.interval()) => keeper.renew(&tls, &renewing).await,
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
                Ok(Ok(())) => "the server ended by itself".to_owned(),
            };
            return Err(words);
        }
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    reviewer.health.stopping();
    // Whoever was told of this replica before it ends may still call.
    sleep(serve.shutdown_delay).await;
    handle.graceful_shutdown(Some(DRAIN));
    let _ = (&mut server).await;
    let _ = stop.send(());
    let _ = tokio::time::timeout(LOOK, renewal).await;
    aside_handle.shutdown();
    tracing::info!("stopped");
    Ok(())
}

/// What renews certificates.
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

    /// Serves with what is new; whatever goes wrong, the old certificate stays.
    async fn renew(&mut self, tls: &RustlsConfig, reviewer: &Reviewer) {
        let done = match self {
            Renewal::Files { cert, key, pair } => match read(cert, key) {
                Ok(new) if new == *pair => return,
                // Both files change, one after the other: what does not fit yet fits the next time.
                Ok(new) => serve_with(tls, &new.0, &new.1).await.map(|()| *pair = new),
                Err(words) => Err(words),
            },
            Renewal::Own(keeper) => match keeper.look(&reviewer.metrics).await {
                Ok(Served::New(store)) => serve_with(tls, &store.serving.cert, &store.serving.key).await,
                Ok(_) => return,
                Err(words) => Err(words),
            },
        };
        match done {
            Ok(()) => tracing::info!("serving with another certificate"),
            Err(words) => tracing::warn!(words, "the certificate is not renewed"),
        }
    }
}

/// Waits for a certificate: this replica's own, or that of the one that leads.
async fn first(keeper: &mut Keeper, reviewer: &Reviewer) -> (String, String) {
    loop {
        match keeper.look(&reviewer.metrics).await {
            Ok(Served::New(store)) => return (store.serving.cert, store.serving.key),
            Ok(_) => {}
            Err(words) => tracing::warn!(words, "no certificate yet"),
        }
        sleep(keeper.interval().min(Duration::from_secs(1))).await;
    }
}

fn read(cert: &PathBuf, key: &PathBuf) -> Result<(String, String), String> {
    let text =
        |path: &PathBuf| fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    Ok((text(cert)?, text(key)?))
}

fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| format!("cannot listen on {address}: {error}"))
}

fn server(listener: TcpListener) -> Result<axum_server::Server<SocketAddr>, String> {
    axum_server::from_tcp(listener).map_err(|error| error.to_string())
}

fn address(listener: &TcpListener) -> String {
    listener.local_addr().map(|address| address.to_string()).unwrap_or_default()
}
