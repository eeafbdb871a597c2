//! Runs a test file: one Envoy with the filters, one without where a test asks for that.

use super::check::check;
use super::coverage::{Coverage, Meter};
use super::{Outcome, Suite, Test};
use crate::behaviour::answers::Stub;
use crate::behaviour::request::{Request, Wanted};
use crate::behaviour::sandbox::{Coming, Exchange, Host, Sandbox, Settings, Subject};
use crate::behaviour::{Error, LeftOut, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// What became of the tests of a file.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Version of Envoy.
    pub envoy: String,
    /// Each test.
    pub outcomes: Vec<Outcome>,
    /// What the requests met.
    pub coverage: Coverage,
    /// What is not as in the mesh.
    pub left_out: BTreeSet<LeftOut>,
    /// How much of the configuration was loaded.
    pub scope: Scope,
    /// The most memory that Envoy held, in bytes.
    pub memory: Option<u64>,
}

/// Everything that the runs of a file share.
struct Runner<'r, 's, 'a> {
    host: &'r Host,
    settings: Settings,
    wanted: Wanted,
    with: Subject<'s, 'a>,
    without: Subject<'s, 'a>,
}

/// Runs the tests whose name `chosen` takes. `patches` are the names of the patches by their number.
pub fn run(
    host: &Host,
    suite: &Suite,
    subjects: (Subject<'_, '_>, Subject<'_, '_>),
    patches: &[String],
    settings: &Settings,
    chosen: &dyn Fn(&str) -> bool,
) -> Result<Results, Error> {
    let (with, without) = subjects;
    let tests: Vec<&Test> = suite.tests.iter().filter(|test| chosen(&test.name)).collect();
    let mut settings = settings.clone();
    settings.wasm.extend(suite.wasm.clone());
    for (name, stub) in &suite.stubs {
        settings.stubs.entry(name.clone()).or_default().extend(stub);
    }
    let wanted = Wanted::of(tests.iter().map(|test| &test.request), &with.config.proxy.workload);
    let runner = Runner { host, settings, wanted, with, without };
    let other = tests.iter().any(|test| !test.without.is_empty());
    // Both come up at the same time.
    let coming = Sandbox::start(&runner.settings)?;
    let second = if other { Some(Sandbox::start(&runner.settings)?) } else { None };
    let mut first = runner.open(runner.with, Some(coming), true)?;
    let mut second = second.map(|coming| runner.open(runner.without, Some(coming), false)).transpose()?;
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
            request: test.request.summary(&with.config.proxy.workload),
        };
        let ran = runner.test(test, &mut first, second.as_mut(), &mut meter, &mut outcome);
        if let Err(error) = ran {
            // Without its Envoy no other test can tell anything.
            if matches!(error, Error::Died(..) | Error::Hangs(..)) {
                return Err(error);
            }
            outcome.error = Some(error.to_string());
        }
        outcome.micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        results.outcomes.push(outcome);
    }
    results.coverage = meter.coverage(&first, patches);
    results.memory = first.peak_memory();
    (results.left_out, results.scope) = (first.left_out, first.scope);
    Ok(results)
}

impl<'r> Runner<'r, '_, '_> {
    fn open(&self, subject: Subject<'_, '_>, coming: Option<Coming>, strict: bool) -> Result<Sandbox<'r>, Error> {
        let coming = match coming {
            Some(coming) => coming,
            None => Sandbox::start(&self.settings)?,
        };
        Sandbox::open(self.host, coming, &subject, &self.settings, &self.wanted, strict)
    }

    fn stubs(&self, test: &Test) -> BTreeMap<String, Stub> {
        let mut all: BTreeMap<String, Stub> = test.stubs.clone();
        for (name, stub) in &self.settings.stubs {
            all.entry(name.clone()).or_default().extend(stub);
        }
        all
    }

    fn test(
        &self,
        test: &Test,
        with: &mut Sandbox<'r>,
        without: Option<&mut Sandbox<'r>>,
        meter: &mut Meter,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let mut request = test.request.clone();
        if let Some(claims) = &test.token {
            request.headers.push(("authorization".to_owned(), format!("Bearer {}", self.host.token(claims)?)));
        }
        let mut own;
        let sandbox = if test.fresh {
            own = self.open(self.with, None, true)?;
            &mut own
        } else {
            with
        };
        let exchanges = self.send(test, &request, sandbox)?;
        exchanges.iter().for_each(|exchange| meter.add(exchange));
        outcome.failures = check(&test.expect, &exchanges, sandbox, &request, false);
        if let (Some(sandbox), false) = (without, test.without.is_empty()) {
            let exchanges = self.send(test, &request, sandbox)?;
            outcome.failures.extend(check(&test.without, &exchanges, sandbox, &request, true));
        }
        Ok(())
    }

    fn send(&self, test: &Test, request: &Request, sandbox: &mut Sandbox<'r>) -> Result<Vec<Exchange>, Error> {
        sandbox.answer(&self.stubs(test))?;
        if test.parallel > 1 {
            return sandbox.send_together(request, test.parallel);
        }
        (0..test.repeat.max(1)).map(|_| sandbox.send(request)).collect()
    }
}
