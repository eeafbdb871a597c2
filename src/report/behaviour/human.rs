//! The result of `try`, for people.

use super::view::{CallView, ChangeView, FilterView, SaidView, Side, VARIES, View, is_binary};
use crate::report::style::{Role, Terminal, count, shorten};
use std::io::{self, Write};

/// Writes a result. `verbose` omits nothing.
pub(crate) fn write(out: &mut dyn Write, terminal: Terminal, view: &View, verbose: bool) -> io::Result<()> {
    let mut page = Page { out, terminal, verbose };
    page.view(view)
}

struct Page<'o> {
    out: &'o mut dyn Write,
    terminal: Terminal,
    verbose: bool,
}

/// A text on one line, whatever it contains.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn body(text: &str, length: u64) -> String {
    if length == 0 {
        return "empty".to_owned();
    }
    if is_binary(text) {
        return format!("binary ({length} bytes)");
    }
    let first = text.lines().next().unwrap_or_default();
    let first = shorten(&plain(first), 60);
    if text.lines().count() > 1 || (text.len() as u64) < length {
        format!("{first} … ({length} bytes)")
    } else {
        format!("{first} ({length} bytes)")
    }
}

impl Page<'_> {
    fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = self.terminal.paint(Role::Strong, text);
        writeln!(self.out, "\n{text}")
    }

    fn dim(&self, text: &str) -> String {
        self.terminal.paint(Role::Dim, text).into_owned()
    }

    fn view(&mut self, view: &View) -> io::Result<()> {
        let times = if view.repeat > 1 { format!(", {} times", view.repeat) } else { String::new() };
        let what = self.terminal.paint(Role::Strong, plain(&view.request));
        writeln!(self.out, "{what}{times}")?;
        let about = format!("{} {}, {}, Envoy {}", view.proxy_type, plain(&view.proxy), view.target, view.envoy);
        writeln!(self.out, "{}", self.dim(&about))?;
        self.client(view)?;
        self.path(view)?;
        self.filters(view)?;
        self.response(view)?;
        self.upstream(view)?;
        self.left_out(view)
    }

    fn status(&self, side: &Side) -> String {
        if let (1, Some((status, 1))) = (side.statuses.len(), side.statuses.first_key_value()) {
            return status.clone();
        }
        let words: Vec<String> = side.statuses.iter().map(|(status, times)| format!("{status} × {times}")).collect();
        words.join(", ")
    }

    fn client(&mut self, view: &View) -> io::Result<()> {
        let named = view.compared_without.join(", ");
        let other = if named.is_empty() { "without the EnvoyFilters".to_owned() } else { format!("without {named}") };
        self.heading("Client")?;
        let tone = if view.with.succeeded { Role::Good } else { Role::Bad };
        let with = self.terminal.paint(tone, self.status(&view.with));
        let time = view.with.client.micros.map(|micros| format!(" in {:.1} ms", millis(micros))).unwrap_or_default();
        match &view.without {
            Some(without) => {
                let same = if view.with.statuses == without.statuses { Role::Dim } else { Role::Odd };
                let before = self.terminal.paint(same, format!("({other}: {})", self.status(without)));
                writeln!(self.out, "  status   {with}{time} {before}")?;
            }
            None => writeln!(self.out, "  status   {with}{time}")?,
        }
        if let Some(failure) = &view.with.client.failure {
            writeln!(self.out, "  ended    {}", self.terminal.paint(Role::Bad, plain(failure)))?;
        }
        if view.with.statuses.len() > 1 {
            writeln!(self.out, "  {}", self.dim(&format!("shown below: request {}", view.with.shown)))?;
        }
        for change in &view.client_changes {
            self.change("  header   ", change)?;
        }
        let now = body(&view.with.client.body, view.with.client.body_length);
        let before = view.without.as_ref().map(|side| (&side.client.body, side.client.body_length));
        if before.is_some_and(|before| before != (&view.with.client.body, view.with.client.body_length)) {
            let (text, length) = before.unwrap_or((&view.with.client.body, 0));
            writeln!(
                self.out,
                "  body     {} {}",
                now,
                self.terminal.paint(Role::Odd, format!("({other}: {})", body(text, length)))
            )?;
        } else {
            writeln!(self.out, "  body     {now}")?;
        }
        if self.verbose {
            for (name, value) in &view.with.client.headers {
                writeln!(self.out, "  {}", self.dim(&format!("< {}: {}", plain(name), plain(value))))?;
            }
        }
        Ok(())
    }

    fn path(&mut self, view: &View) -> io::Result<()> {
        self.heading("Path")?;
        let Some(path) = &view.with.path else {
            writeln!(self.out, "  Envoy logged no request: it did not reach a filter chain")?;
            return Ok(());
        };
        let mut row = |name: &str, value: String| {
            if value.is_empty() { Ok(()) } else { writeln!(self.out, "  {name:<15}{value}") }
        };
        row("listener", plain(&path.listener))?;
        let index = match path.filter_chain_index.as_str() {
            "" => String::new(),
            "default" => " (default)".to_owned(),
            index => format!(" (number {index})"),
        };
        let name = if path.filter_chain.is_empty() { "no name".to_owned() } else { plain(&path.filter_chain) };
        row(
            "filter chain",
            if path.filter_chain_index.is_empty() { path.no_chain().to_owned() } else { format!("{name}{index}") },
        )?;
        row("network", path.network_filters.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", "))?;
        row("server name", plain(&path.sni))?;
        row("client is", plain(&path.peer))?;
        row("virtual host", plain(&path.virtual_host))?;
        let route = if path.route.is_empty() { "no name".to_owned() } else { plain(&path.route) };
        let by = path.route_by.as_ref().map(|by| format!(", changed by {by}")).unwrap_or_default();
        row("route", path.route_index.map(|index| format!("{route} (number {index}){by}")).unwrap_or_default())?;
        row("made by", object(&path.object))?;
        row("cluster", plain(&path.cluster))?;
        row("attempts", if path.attempts > 1 { path.attempts.to_string() } else { String::new() })?;
        row("answer", plain(&path.details))?;
        row("flags", flags(&path.flags))?;
        row("closed", plain(&path.closed))?;
        row("TLS failed", plain(&path.tls_failure))
    }

    fn filters(&mut self, view: &View) -> io::Result<()> {
        if view.with.filters.is_empty() {
            return Ok(());
        }
        self.heading("HTTP filters, in the order of the request")?;
        let several = view.with.filters.iter().any(|filter| filter.listener != view.with.filters[0].listener);
        let mut listener = "";
        for filter in &view.with.filters {
            if several && listener != filter.listener {
                listener = &filter.listener;
                writeln!(self.out, "  {}", self.dim(&format!("in {}", plain(listener))))?;
            }
            self.name(filter)?;
            for change in &filter.request {
                self.change("      request   ", change)?;
            }
            self.said(filter.said.iter().filter(|said| said.phase == "request"))?;
            for call in &filter.asked {
                self.asked(call)?;
            }
            if filter.stopped {
                let status = view.with.client.status.map(|status| format!(" with {status}")).unwrap_or_default();
                let details = view.with.path.as_ref().map(|path| path.details.clone()).unwrap_or_default();
                let details = if details.is_empty() { String::new() } else { format!(" ({})", plain(&details)) };
                let text = format!("stopped the request{status}{details}");
                writeln!(self.out, "      {}", self.terminal.paint(Role::Bad, text))?;
            }
        }
        let of_filters: Vec<&CallView> = view.with.filters.iter().flat_map(|filter| &filter.asked).collect();
        for call in view.with.asked.iter().filter(|call| !of_filters.contains(call)) {
            self.asked(call)?;
        }
        if !view.with.said.is_empty() {
            writeln!(self.out, "    not by one of these filters")?;
            self.said(view.with.said.iter())?;
        }
        Ok(())
    }

    fn name(&mut self, filter: &FilterView) -> io::Result<()> {
        let mark = match (&filter.by, filter.inserted) {
            (Some(_), true) => self.terminal.paint(Role::Good, "+"),
            (Some(_), false) => self.terminal.paint(Role::Odd, "~"),
            (None, _) => " ".into(),
        };
        let by = filter.by.as_ref().map(|by| self.dim(&format!("  {}", plain(by)))).unwrap_or_default();
        let name = plain(&filter.name);
        let name = if filter.reached { name } else { self.dim(&format!("{name}  not reached")) };
        writeln!(self.out, "  {mark} {name}{by}")
    }

    fn change(&mut self, start: &str, change: &ChangeView) -> io::Result<()> {
        let values =
            |values: &[String]| values.iter().map(|value| shorten(&plain(value), 90)).collect::<Vec<_>>().join(", ");
        let name = plain(&change.name);
        let text = match (change.before.is_empty(), change.after.is_empty()) {
            (true, _) => self.terminal.paint(Role::Good, format!("+ {name}: {}", values(&change.after))),
            (_, true) => self.terminal.paint(Role::Bad, format!("- {name}: {}", values(&change.before))),
            _ => self
                .terminal
                .paint(Role::Odd, format!("~ {name}: {} → {}", values(&change.before), values(&change.after))),
        };
        writeln!(self.out, "{start}{text}")
    }

    fn said<'s>(&mut self, said: impl Iterator<Item = &'s SaidView>) -> io::Result<()> {
        for one in said {
            let bad = matches!(one.level.as_str(), "error" | "critical");
            let role = if bad { Role::Bad } else { Role::Dim };
            let text = self.terminal.paint(role, plain(&one.text));
            writeln!(self.out, "      logged    {} {text}", one.level)?;
        }
        Ok(())
    }

    fn asked(&mut self, call: &CallView) -> io::Result<()> {
        let what = if call.asked.is_empty() { format!("{} {}", call.method, call.path) } else { call.asked.clone() };
        let time = call.micros.map(|micros| format!(" in {:.1} ms", millis(micros))).unwrap_or_default();
        let text = format!(
            "asked     {} of {}: {} → {}{time}",
            call.service,
            plain(&call.cluster),
            plain(what.trim()),
            plain(&call.answer)
        );
        writeln!(self.out, "      {text}")
    }

    fn response(&mut self, view: &View) -> io::Result<()> {
        let back: Vec<&FilterView> = view
            .with
            .filters
            .iter()
            .rev()
            .filter(|filter| !filter.response.is_empty() || filter.said.iter().any(|said| said.phase == "response"))
            .collect();
        if back.is_empty() {
            return Ok(());
        }
        self.heading("On the way back")?;
        for filter in back {
            self.name(&FilterView { reached: true, ..filter.clone() })?;
            for change in &filter.response {
                self.change("      response  ", change)?;
            }
            self.said(filter.said.iter().filter(|said| said.phase == "response"))?;
        }
        Ok(())
    }

    fn upstream(&mut self, view: &View) -> io::Result<()> {
        self.heading("Upstream")?;
        if view.with.upstream.is_empty() {
            writeln!(self.out, "  no request reached it")?;
            if view.without.as_ref().is_some_and(|side| !side.upstream.is_empty()) {
                writeln!(
                    self.out,
                    "  {}",
                    self.terminal.paint(Role::Odd, "without the EnvoyFilters the request reached it")
                )?;
            }
            return Ok(());
        }
        if view.with.upstream.len() > 1 {
            writeln!(self.out, "  {}", count(view.with.upstream.len(), "call", "calls; the last one is shown"))?;
        }
        let Some(call) = view.with.upstream.last() else { return Ok(()) };
        if call.protocol == "TCP" {
            writeln!(self.out, "  TCP, {}", body(&call.body, call.body_length))?;
        } else {
            writeln!(self.out, "  {} {} {}", plain(&call.method), plain(&call.path), call.protocol)?;
        }
        for (name, value) in call.headers.iter().filter(|(name, _)| !name.starts_with(':')) {
            let changed = view.upstream_changes.iter().any(|change| change.name.eq_ignore_ascii_case(name));
            let text = format!("{}: {}", plain(name), shorten(&plain(value), 100));
            let text = if changed {
                self.terminal.paint(Role::Good, format!("{text}  (by the EnvoyFilters)")).into_owned()
            } else {
                text
            };
            writeln!(self.out, "  {text}")?;
        }
        for change in view.upstream_changes.iter().filter(|change| change.after.is_empty()) {
            self.change("  ", change)?;
        }
        if call.body_length > 0 && call.protocol != "TCP" {
            writeln!(self.out, "  body: {}", body(&call.body, call.body_length))?;
        }
        Ok(())
    }

    fn left_out(&mut self, view: &View) -> io::Result<()> {
        self.heading("Differences from the mesh")?;
        for one in &view.left_out {
            let by = if one.by.is_empty() { String::new() } else { format!(" ({})", one.by.join(", ")) };
            let shown = if self.verbose { one.what.len() } else { 4 };
            let mut what: Vec<String> = one.what.iter().take(shown).map(|it| plain(it)).collect();
            if one.what.len() > shown {
                what.push(format!("{} more", one.what.len() - shown));
            }
            writeln!(self.out, "  {}: {}{by}", one.description, what.join(", "))?;
        }
        let of = |(some, all): (usize, usize), what: &str| format!("{some} of {all} {what}");
        let text = format!(
            "loaded: {}, {}, {}; upstreams are stubs; random values and times are shown as {VARIES}",
            of(view.loaded.listeners, "listeners"),
            of(view.loaded.routes, "route configurations"),
            of(view.loaded.clusters, "clusters"),
        );
        writeln!(self.out, "  {text}")
    }
}

fn millis(micros: u64) -> f64 {
    f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0
}

/// `/apis/networking.istio.io/v1/namespaces/shop/virtual-service/cart` as `VirtualService shop/cart`.
fn object(path: &str) -> String {
    let words: Vec<&str> = path.split('/').collect();
    match words.as_slice() {
        [.., "namespaces", namespace, kind, name] => {
            let kind: String = kind
                .split('-')
                .map(|word| {
                    let mut letters = word.chars();
                    letters
                        .next()
                        .map(|first| first.to_uppercase().chain(letters).collect::<String>())
                        .unwrap_or_default()
                })
                .collect();
            format!("{kind} {namespace}/{name}")
        }
        _ => plain(path),
    }
}

/// Envoy's short response flags in words (`StreamInfo::ResponseFlagUtils`, Envoy 1.40).
fn flags(flags: &str) -> String {
    const WORDS: [(&str, &str); 20] = [
        ("DC", "the client disconnected"),
        ("DI", "delayed by the fault filter"),
        ("FI", "aborted by the fault filter"),
        ("IH", "rejected: a header value is invalid"),
        ("LR", "the connection was reset by Envoy"),
        ("NC", "the upstream cluster does not exist"),
        ("NR", "no route or filter chain matches"),
        ("RL", "rate limited"),
        ("RLSE", "the rate limit service failed"),
        ("UAEX", "denied by the authorization service"),
        ("UC", "the upstream closed the connection"),
        ("UF", "the upstream could not be reached"),
        ("UH", "no healthy upstream"),
        ("UO", "circuit breaker open"),
        ("UR", "the upstream reset the stream"),
        ("URX", "the retry limit was reached"),
        ("UT", "the upstream did not answer in time"),
        ("SI", "the stream was idle too long"),
        ("DPE", "the client broke the protocol"),
        ("UPE", "the upstream broke the protocol"),
    ];
    let of = |flag: &str| match WORDS.iter().find(|(short, _)| *short == flag) {
        Some((_, words)) => format!("{flag}: {words}"),
        None => flag.to_owned(),
    };
    flags.split(',').filter(|flag| !flag.is_empty() && *flag != "-").map(of).collect::<Vec<_>>().join("; ")
}
