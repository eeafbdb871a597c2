//! Config dumps with changed resources, and the texts of resources.

use crate::engine::{Patched, PatchedResource};
use crate::load::dump::Edit;
use crate::model::resource::{FieldNames, ProxyConfig, ResourceKind};
use crate::proto::camel;
use crate::proto::json::{self, Style};
use crate::proto::schema::Schema;
use crate::proto::tree::{Origin, TYPE_KEY, Tree};
use std::io::{self, Write};

/// The JSON text of a resource with its `@type` and the field names of a dump.
pub fn resource(schema: Schema, names: FieldNames, kind: ResourceKind, tree: &Tree<'_>, style: Style) -> String {
    let mut tree = tree.clone();
    if let (FieldNames::Json, Some(message)) = (names, schema.message(kind.type_name())) {
        camel::json_names(schema, message, &mut tree);
    }
    if tree.get(TYPE_KEY).is_none() {
        let url = Tree::string(format!("type.googleapis.com/{}", kind.type_name()), Origin::ISTIOD);
        if let Some(entries) = tree.entries_mut() {
            entries.insert(0, (TYPE_KEY.into(), url));
        }
    }
    json::write(&tree, style)
}

/// The edits that make a dump contain what istiod sends.
pub(crate) fn edits(schema: Schema, names: FieldNames, patched: &Patched<'_>) -> Vec<Edit<'static>> {
    let edits = patched.resources.iter().filter_map(|one| {
        let text = |tree| resource(schema, names, one.kind, tree, Style::Compact);
        Some(match (one.source, &one.tree) {
            (Some(index), Some(tree)) => Edit::Replace { resource: index, json: text(tree).into() },
            (Some(index), None) => Edit::Remove { resource: index },
            (None, Some(tree)) => Edit::Add { kind: one.kind, json: text(tree).into() },
            (None, None) => return None,
        })
    });
    edits.collect()
}

/// Writes a dump that contains only new and changed resources.
pub(crate) fn changed(
    out: &mut dyn Write,
    schema: Schema,
    config: &ProxyConfig<'_>,
    patched: &Patched<'_>,
) -> io::Result<()> {
    let names = config.field_names;
    // A patch that panics touches a resource without changing it.
    let other = |one: &PatchedResource<'_>, text: &str| {
        let was =
            one.source.and_then(|index| config.resources.get(index)).map(|resource| json::parse(resource.json.read()));
        !matches!((was, json::parse(text)), (Some(Ok(was)), Ok(now)) if was.same(&now))
    };
    writeln!(out, "{{\n  \"configs\": [")?;
    let mut first = true;
    for kind in ResourceKind::ALL {
        let section = section(kind, names);
        let mut opened = false;
        for one in patched.resources.iter().filter(|one| one.kind == kind) {
            let Some(tree) = &one.tree else { continue };
            let text = resource(schema, names, kind, tree, Style::Indented(2));
            if !other(one, &text) {
                continue;
            }
            if opened {
                writeln!(out, ",")?;
            } else {
                let comma = if first { "" } else { ",\n" };
                write!(out, "{comma}    {{\n      \"@type\": \"type.googleapis.com/{}\",\n", section.type_name)?;
                writeln!(out, "      \"{}\": [", section.list)?;
                (first, opened) = (false, true);
            }
            let name = serde_json::Value::from(one.name.as_str());
            match section.state {
                Some(state) => {
                    let text = indent(&text, 12);
                    write!(
                        out,
                        "        {{\n          \"name\": {name},\n          \"{state}\": {{\n            \"{}\": {text}\n          }}\n        }}",
                        section.item
                    )?;
                }
                None => write!(out, "        {{\n          \"{}\": {}\n        }}", section.item, indent(&text, 10))?,
            }
        }
        if opened {
            write!(out, "\n      ]\n    }}")?;
        }
    }
    writeln!(out, "{}  ]\n}}", if first { "" } else { "\n" })
}

/// How a section of a dump is written (`envoy.admin.v3`, Envoy 1.39).
struct Section {
    type_name: &'static str,
    list: &'static str,
    /// The wrapper around a listener.
    state: Option<&'static str>,
    item: &'static str,
}

fn section(kind: ResourceKind, names: FieldNames) -> Section {
    let pick = |proto: &'static str, json: &'static str| if names == FieldNames::Json { json } else { proto };
    match kind {
        ResourceKind::Listener => Section {
            type_name: "envoy.admin.v3.ListenersConfigDump",
            list: pick("dynamic_listeners", "dynamicListeners"),
            state: Some(pick("active_state", "activeState")),
            item: "listener",
        },
        ResourceKind::Cluster => Section {
            type_name: "envoy.admin.v3.ClustersConfigDump",
            list: pick("dynamic_active_clusters", "dynamicActiveClusters"),
            state: None,
            item: "cluster",
        },
        ResourceKind::Route => Section {
            type_name: "envoy.admin.v3.RoutesConfigDump",
            list: pick("dynamic_route_configs", "dynamicRouteConfigs"),
            state: None,
            item: pick("route_config", "routeConfig"),
        },
        ResourceKind::ExtensionConfig => Section {
            type_name: "envoy.admin.v3.EcdsConfigDump",
            list: pick("ecds_filters", "ecdsFilters"),
            state: None,
            item: pick("ecds_filter", "ecdsFilter"),
        },
    }
}

/// Indents every line but the first.
fn indent(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}
