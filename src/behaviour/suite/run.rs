//! Runs test files: one Envoy with the filters, and one without if a test needs it.

use super::check::check;
use super::coverage::{Coverage, Meter};
use super::{Outcome, Suite, Test};
use crate::behaviour::answers::Stub;
use crate::behaviour::request::{Request, Wanted};
use crate::behaviour::sandbox::{Coming, Exchange, Host, Sandbox, Settings, Subject};
use crate::behaviour::{Error, LeftOut, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The results of the tests of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    /// Version of Envoy.
    pub envoy: String,
    /// Each test.
    pub outcomes: Vec<Outcome>,
    /// What the requests reached.
    pub coverage: Coverage,
    /// Differences from the mesh.
    pub left_out: BTreeSet<LeftOut>,
    /// How much of the configuration was loaded.
    pub scope: Scope,
    /// The most memory that Envoy held, in bytes.
    pub memory: Option<u64>,
}

/// Shared by the files of a proxy and its filters.
struct Runner<'r, 's, 'a> {
    host: &'r Host,
    settings: &'r Settings,
    wanted: Wanted,
    with: Subject<'s, 'a>,
    without: Subject<'s, 'a>,
    /// Whether a test checks the proxy without the filters.
    both: bool,
    patches: &'r [String],
}

/// The Envoys shared by files.
enum Shared<'h> {
    /// None runs.
    Closed,
    /// With the filters, and without them if a test needs it.
    Open(Box<(Sandbox<'h>, Option<Sandbox<'h>>)>),
    /// Envoy rejects the configuration, which is the same for every file.
    Refused(String),
}

/// Runs the tests selected by `chosen`, of files with the same proxy and filters, and returns the results of each file.
/// They share an Envoy. `patches` are the names of the patches by their number.
pub(crate) fn run(
    host: &Host,
    suites: &[&Suite],
    subjects: (Subject<'_, '_>, Subject<'_, '_>),
    patches: &[String],
    settings: &Settings,
    chosen: &dyn Fn(&str) -> bool,
) -> Vec<Result<Results, Error>> {
    let (with, without) = subjects;
    let tests: Vec<Vec<&Test>> =
        suites.iter().map(|suite| suite.tests.iter().filter(|test| chosen(&test.name)).collect()).collect();
    let all = || tests.iter().flatten().copied();
    let wanted = Wanted::of(all().map(|test| &test.request), &with.config.proxy.workload);
    let both = all().any(|test| !test.without.is_empty());
    let runner = Runner { host, settings, wanted, with, without, both, patches };
    let mut shared = Shared::Closed;
    suites.iter().zip(&tests).map(|(suite, tests)| runner.file(suite, tests, &mut shared)).collect()
}

impl<'r> Runner<'r, '_, '_> {
    /// The Envoys, started if none runs.
    fn opened<'o>(
        &self,
        shared: &'o mut Shared<'r>,
    ) -> Result<(&'o mut Sandbox<'r>, Option<&'o mut Sandbox<'r>>), Error> {
        if matches!(shared, Shared::Closed) {
            *shared = match self.pair() {
                Ok(pair) => Shared::Open(Box::new(pair)),
                Err(Error::Refused(words)) => Shared::Refused(words),
                Err(error) => return Err(error),
            };
        }
        match shared {
            Shared::Open(pair) => Ok((&mut pair.0, pair.1.as_mut())),
            Shared::Refused(words) => Err(Error::Refused(words.clone())),
            Shared::Closed => Err(Error::Internal("no Envoy runs".to_owned())),
        }
    }

    fn pair(&self) -> Result<(Sandbox<'r>, Option<Sandbox<'r>>), Error> {
        // Both start concurrently.
        let coming = Sandbox::start(self.settings)?;
        let second = if self.both { Some(Sandbox::start(self.settings)?) } else { None };
        let first = self.open(self.with, Some(coming), true)?;
        let second = second.map(|coming| self.open(self.without, Some(coming), false)).transpose()?;
        Ok((first, second))
    }

    fn open(&self, subject: Subject<'_, '_>, coming: Option<Coming>, strict: bool) -> Result<Sandbox<'r>, Error> {
        let coming = match coming {
            Some(coming) => coming,
            None => Sandbox::start(self.settings)?,
        };
        Sandbox::open(self.host, coming, &subject, self.settings, &self.wanted, strict)
    }

    /// Runs the tests of a file.
    fn file(&self, suite: &Suite, tests: &[&Test], shared: &mut Shared<'r>) -> Result<Results, Error> {
        let (first, mut second) = self.opened(shared)?;
        first.answer(&self.stubs(suite, None))?;
        let mut meter = Meter::default();
        let mut results = Results { envoy: first.version().to_owned(), ..Results::default() };
        for test in tests {
            let began = Instant::now();
            let mut outcome = Outcome {
                name: test.name.clone(),
                span: test.span,
                failures: Vec::new(),
                error: None,
                micros: 0,
                request: test.request.summary(&self.with.config.proxy.workload),
            };
            let ran = self.test((suite, test), first, second.as_deref_mut(), &mut meter, &mut outcome);
            if let Err(error) = ran {
                // Without its Envoy, no other test of this file can run; the next file gets a new one.
                if matches!(error, Error::Died(..) | Error::Hangs(..)) {
                    *shared = Shared::Closed;
                    return Err(error);
                }
                outcome.error = Some(error.to_string());
            }
            outcome.micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            results.outcomes.push(outcome);
        }
        results.coverage = meter.coverage(first, self.patches);
        results.memory = first.peak_memory();
        (results.left_out, results.scope) = (first.left_out.clone(), first.scope);
        Ok(results)
    }

    /// The answers of upstreams: those of a test, then of the command line, then of its file.
    fn stubs(&self, suite: &Suite, test: Option<&Test>) -> BTreeMap<String, Stub> {
        let mut all: BTreeMap<String, Stub> = test.map(|test| test.stubs.clone()).unwrap_or_default();
        for (name, stub) in self.settings.stubs.iter().chain(&suite.stubs) {
            all.entry(name.clone()).or_default().extend(stub);
        }
        all
    }

    fn test(
        &self,
        (suite, test): (&Suite, &Test),
        with: &mut Sandbox<'r>,
        without: Option<&mut Sandbox<'r>>,
        meter: &mut Meter,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let mut request = test.request.clone();
        if let Some(claims) = &test.token {
            request.headers.push(("authorization".to_owned(), format!("Bearer {}", self.host.token(claims)?)));
        }
        let stubs = self.stubs(suite, Some(test));
        let mut own;
        let sandbox = if test.fresh {
            own = self.open(self.with, None, true)?;
            &mut own
        } else {
            with
        };
        let exchanges = send(test, &request, &stubs, sandbox)?;
        exchanges.iter().for_each(|exchange| meter.add(exchange));
        outcome.failures = check(&test.expect, &exchanges, sandbox, &request, false);
        if let (Some(sandbox), false) = (without, test.without.is_empty()) {
            let exchanges = send(test, &request, &stubs, sandbox)?;
            outcome.failures.extend(check(&test.without, &exchanges, sandbox, &request, true));
        }
        Ok(())
    }
}

fn send(
    test: &Test,
    request: &Request,
    stubs: &BTreeMap<String, Stub>,
    sandbox: &mut Sandbox<'_>,
) -> Result<Vec<Exchange>, Error> {
    sandbox.answer(stubs)?;
    if test.parallel > 1 {
        return sandbox.send_together(request, test.parallel);
    }
    sandbox.send_in_turn(request, test.repeat)
}
