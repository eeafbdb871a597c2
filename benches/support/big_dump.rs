//! A deterministic config dump of any size: the shapes of a recorded sidecar, repeated under other names.

use std::fmt::Write;

/// The size of each part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Clusters: three ports per service.
    pub(crate) clusters: usize,
    /// Listeners: two of three HTTP, the rest TCP.
    pub(crate) listeners: usize,
    /// Route configurations.
    pub(crate) routes: usize,
    /// Virtual hosts of all route configurations.
    pub(crate) virtual_hosts: usize,
}

impl Size {
    /// The dump of a sidecar in a large mesh without Sidecar resources: 106 MB.
    pub(crate) const BIG: Size = Size { clusters: 15_000, listeners: 4_000, routes: 300, virtual_hosts: 9_000 };
    /// The same mix, a hundredth of it.
    pub(crate) const SMALL: Size = Size { clusters: 150, listeners: 40, routes: 3, virtual_hosts: 90 };
}

/// The dump in the format of Envoy's admin `/config_dump`, indented by one space per level as in Envoy.
pub(crate) fn dump(size: Size) -> String {
    let recorded = recorded();
    let shapes = Shapes::of(&recorded);
    let mut out =
        String::with_capacity(size.clusters * 4_700 + size.listeners * 7_000 + size.virtual_hosts * 1_800 + 200_000);
    out.push_str("{\n \"configs\": [\n");
    out.push_str(section(&recorded, "Bootstrap"));
    out.push_str(",\n");
    open(&mut out, "Clusters", "dynamic_active_clusters");
    for index in 0..size.clusters {
        separate(&mut out, index);
        shapes.cluster.write(index, &mut out);
    }
    close(&mut out);
    out.push_str(",\n");
    open(&mut out, "Listeners", "dynamic_listeners");
    out.push_str(shapes.inbound);
    out.push_str(",\n");
    out.push_str(shapes.outbound);
    for index in 2..size.listeners {
        out.push_str(",\n");
        if index % 25 < 16 { &shapes.http } else { &shapes.tcp }.write(index, &mut out);
    }
    close(&mut out);
    out.push_str(",\n");
    open(&mut out, "Routes", "dynamic_route_configs");
    for route in 0..size.routes {
        separate(&mut out, route);
        let head = "    {\n     \"version_info\": \"1\",\n     \"route_config\": {\n      \
                    \"@type\": \"type.googleapis.com/envoy.config.route.v3.RouteConfiguration\",\n";
        let _ = write!(out, "{head}      \"name\": \"{}\",\n      \"virtual_hosts\": [\n", 10_000 + route);
        let hosts = (route..size.virtual_hosts).step_by(size.routes);
        for (place, index) in hosts.enumerate() {
            separate(&mut out, place);
            shapes.virtual_host.write(index, &mut out);
        }
        out.push_str("\n      ],\n      \"validate_clusters\": false\n     }\n    }");
    }
    close(&mut out);
    out.push_str("\n ]\n}\n");
    out
}

/// The configuration of the sidecar `cart` as istiod (1.31 line) generates it.
pub(crate) fn recorded() -> String {
    let packed = include_bytes!("../../testdata/reference/shop/base/cart.json.zst");
    let bytes = zstd::decode_all(packed.as_slice()).expect("a zstd file");
    String::from_utf8(bytes).expect("JSON")
}

fn open(out: &mut String, section: &str, list: &str) {
    let head = "  {\n   \"@type\": \"type.googleapis.com/envoy.admin.v3";
    let _ = write!(out, "{head}.{section}ConfigDump\",\n   \"version_info\": \"1\",\n   \"{list}\": [\n");
}

fn close(out: &mut String) {
    out.push_str("\n   ]\n  }");
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push_str(",\n");
    }
}

/// The item of `configs` of a type.
fn section<'t>(text: &'t str, word: &str) -> &'t str {
    around(text, &format!("envoy.admin.v3.{word}ConfigDump"), "  ")
}

/// The object indented by `indent` around a mark.
fn around<'t>(text: &'t str, mark: &str, indent: &str) -> &'t str {
    let at = text.find(mark).expect("the mark is in the recording");
    let start = text[..at].rfind(&format!("\n{indent}{{\n")).expect("an object around it") + 1;
    let end = at + text[at..].find(&format!("\n{indent}}}")).expect("its end") + indent.len() + 2;
    &text[start..end]
}

struct Shapes<'t> {
    cluster: Shape<'t>,
    http: Shape<'t>,
    tcp: Shape<'t>,
    virtual_host: Shape<'t>,
    inbound: &'t str,
    outbound: &'t str,
}

impl<'t> Shapes<'t> {
    fn of(text: &'t str) -> Self {
        let item = |mark: &str| around(text, mark, "    ");
        Shapes {
            cluster: Shape::of(item("\"alt_stat_name\": \"outbound|80||cart.shop.svc.cluster.local;")),
            http: Shape::of(item("\"name\": \"0.0.0.0_7070\"")),
            tcp: Shape::of(item("\"name\": \"10.1.0.10_9000\"")),
            virtual_host: Shape::of(around(text, "\"name\": \"cart.shop.svc.cluster.local:80\"", "       ")),
            inbound: item("\"name\": \"virtualInbound\""),
            outbound: item("\"name\": \"virtualOutbound\""),
        }
    }
}

/// A recorded object, cut at names and addresses.
struct Shape<'t>(Vec<(&'t str, Hole)>);

#[derive(Clone, Copy)]
enum Hole {
    None,
    Service,
    Namespace,
    Port,
    Address,
}

/// A text in the recording, and its replacement.
const MARKS: [(&str, &[(&str, Hole)]); 14] = [
    ("cart.shop", &[("", Hole::Service), (".", Hole::Namespace)]),
    ("\"cart\"", &[("\"", Hole::Service), ("\"", Hole::None)]),
    ("\"shop\"", &[("\"", Hole::Namespace), ("\"", Hole::None)]),
    ("ns/shop/", &[("ns/", Hole::Namespace), ("/", Hole::None)]),
    ("destination-rule/cart", &[("destination-rule/", Hole::Service)]),
    ("outbound|80|", &[("outbound|", Hole::Port), ("|", Hole::None)]),
    ("outbound|9000|", &[("outbound|", Hole::Port), ("|", Hole::None)]),
    ("outbound_.80_", &[("outbound_.", Hole::Port), ("_", Hole::None)]),
    ("10.1.0.10", &[("", Hole::Address)]),
    ("_9000\"", &[("_", Hole::Port), ("\"", Hole::None)]),
    ("0.0.0.0_7070", &[("0.0.0.0_", Hole::Port)]),
    ("\"port_value\": 7070", &[("\"port_value\": ", Hole::Port)]),
    ("\"port_value\": 9000", &[("\"port_value\": ", Hole::Port)]),
    ("\"route_config_name\": \"7070\"", &[("\"route_config_name\": \"", Hole::Port), ("\"", Hole::None)]),
];

impl<'t> Shape<'t> {
    fn of(text: &'t str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((at, mark, holes)) =
            MARKS.iter().filter_map(|(mark, holes)| Some((rest.find(mark)?, *mark, *holes))).min_by_key(|found| found.0)
        {
            parts.push((&rest[..at], Hole::None));
            parts.extend_from_slice(holes);
            rest = &rest[at + mark.len()..];
        }
        parts.push((rest, Hole::None));
        Shape(parts)
    }

    fn write(&self, index: usize, out: &mut String) {
        let service = index / 3;
        for (text, hole) in &self.0 {
            out.push_str(text);
            let _ = match hole {
                Hole::None => Ok(()),
                Hole::Service => write!(out, "service-{service:05}"),
                Hole::Namespace => write!(out, "team-{:03}", service % 200),
                Hole::Port => write!(out, "{}", 1_000 + index),
                Hole::Address => write!(out, "10.{}.{}.{}", 1 + service / 65_536, service / 256 % 256, service % 256),
            };
        }
    }
}
