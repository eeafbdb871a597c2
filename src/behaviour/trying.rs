//! One request with and without the filters: the answer of `try`.

use super::sandbox::{Exchange, Host, Sandbox, Settings, Subject};
use super::{Chain, Error, LeftOut, Request, Scope, Wanted};
use std::collections::BTreeSet;

/// The input of `try`.
pub(crate) struct Try<'t, 's, 'a> {
    /// The request.
    pub request: &'t Request,
    /// Claims of a token to send, which the JWT filters of the sandbox trust.
    pub token: Option<&'t serde_json::Value>,
    /// How often it is sent.
    pub repeat: usize,
    /// The configuration with the filters.
    pub with: Subject<'s, 'a>,
    /// The configuration to compare with.
    pub without: Option<Subject<'s, 'a>>,
    /// Settings of the sandbox.
    pub settings: &'t Settings,
}

/// The result for one configuration.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The observations of each request.
    pub exchanges: Vec<Exchange>,
    /// Filter chains, numbered as the exchanges name them.
    pub chains: Vec<Chain>,
    /// Differences from the mesh.
    pub left_out: BTreeSet<LeftOut>,
    /// How much of the configuration was loaded.
    pub scope: Scope,
}

/// The result of `try`.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Version of Envoy.
    pub envoy: String,
    /// With the filters.
    pub with: Run,
    /// Without them.
    pub without: Option<Run>,
}

/// Tries a request. Both configurations run concurrently, each in its own Envoy.
pub(crate) fn try_request(what: &Try<'_, '_, '_>) -> Result<Report, Error> {
    let host = Host::new()?;
    let mut request = what.request.clone();
    if let Some(claims) = what.token {
        request.headers.push(("authorization".to_owned(), format!("Bearer {}", host.token(claims)?)));
    }
    let wanted = Wanted::of([what.request], &what.with.config.proxy.workload);
    let first = Sandbox::start(what.settings)?;
    let second = what.without.as_ref().map(|_| Sandbox::start(what.settings)).transpose()?;
    let run = |subject: &Subject<'_, '_>, coming, strict: bool| -> Result<(Run, String), Error> {
        let mut sandbox = Sandbox::open(&host, coming, subject, what.settings, &wanted, strict)?;
        let exchanges = sandbox.send_in_turn(&request, what.repeat)?;
        let version = sandbox.version().to_owned();
        let run = Run { exchanges, chains: sandbox.chains, left_out: sandbox.left_out, scope: sandbox.scope };
        Ok((run, version))
    };
    let (with, without) = std::thread::scope(|scope| {
        let other =
            what.without.as_ref().zip(second).map(|(subject, coming)| scope.spawn(|| run(subject, coming, false)));
        let with = run(&what.with, first, true);
        let without = other.map(|other| {
            other.join().unwrap_or_else(|_| Err(Error::Internal("the run without the filters ended early".to_owned())))
        });
        (with, without)
    });
    let (with, envoy) = with?;
    let without = without.transpose()?.map(|(run, _)| run);
    Ok(Report { envoy, with, without })
}
