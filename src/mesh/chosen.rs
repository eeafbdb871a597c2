//! The rules of `lint`: those of the request and those of a configuration, and what the configuration switches off.

use super::Error;
use super::rules::{rules_with, unusable};
use crate::lint::Rule;
use crate::lint::config::{self, Config};
use crate::lint::selection::{Selector, selected};
use crate::load::{Loaded, config as files};
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Problem, Severity, escape};
use crate::words::count;
use std::path::{Path, PathBuf};

/// The configuration and rules of a run.
pub(super) struct Chosen {
    /// The configuration with the selectors of the request.
    pub config: Config,
    /// Its folder.
    pub folder: PathBuf,
    /// All rules with those of the user.
    pub rules: Vec<&'static Rule>,
    /// What the request and the configuration leave out, as sentences.
    pub ignored: Vec<String>,
}

/// What a request says about rules.
pub(super) struct Wanted<'r> {
    /// The files that are judged: the configuration is found near them.
    pub files: &'r [PathBuf],
    /// The configuration.
    pub config: Option<&'r PathBuf>,
    /// Files and folders with user-defined rules.
    pub rules: &'r [PathBuf],
    /// Only these rules.
    pub select: &'r [String],
    /// Not these rules.
    pub ignore: &'r [String],
}

/// Reads the configuration and the rules.
pub(super) fn chosen(request: &Wanted<'_>, loaded: &mut Loaded) -> Result<Chosen, Error> {
    let beside = request.files.iter().find(|file| file.as_os_str() != "-");
    let path = request.config.cloned().or_else(|| files::find(beside.map(PathBuf::as_path)));
    let named = request.config.is_some();
    let file = path.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let read = path.map(|path| {
        if named { files::read(&path, &mut loaded.sources) } else { files::read_found(&path, &mut loaded.sources) }
    });
    let read = read.transpose().map_err(Error::File)?;
    let of_config =
        read.as_ref().and_then(|read| Some((config::rule_paths(read.document.as_ref()?), read.folder.clone())));
    let of_config = of_config.as_ref().map(|(paths, folder)| (paths.as_slice(), folder.as_path()));
    let rules = rules_with(request.rules, of_config, &mut loaded.sources)?;
    let (mut config, mut folder) = (Config::default(), PathBuf::new());
    if let Some(read) = read {
        let (found, problems) = read.document.map(|document| Config::read(&document, &rules)).unwrap_or_default();
        (config, folder) = (Config { own_folder_only: !named, ..found }, read.folder);
        let (bad, mild): (Vec<Problem>, Vec<Problem>) =
            read.problems.into_iter().chain(problems).partition(|problem| problem.severity == Severity::Error);
        if !bad.is_empty() {
            return Err(unusable("the configuration cannot be used", &loaded.sources, bad));
        }
        loaded.problems.extend(mild);
    }
    let selectors = |words: &[String]| -> Result<Vec<Selector>, Error> {
        let selector = |word: &String| Selector::new(word.trim(), &rules);
        words
            .iter()
            .map(selector)
            .collect::<Result<_, crate::source::ErrorMessage>>()
            .map_err(|error| Error::Text { message: error.into(), help: None })
    };
    let (select, ignore) = (selectors(request.select)?, selectors(request.ignore)?);
    let file = file.unwrap_or_default();
    // Words of the request, not numbers: a new rule changes no report.
    let of = |words: &[String]| words.iter().map(|word| word.trim()).collect::<Vec<_>>().join(", ");
    let unselected =
        (!select.is_empty()).then(|| format!("not checked: rules other than --select {}", of(request.select)));
    let dropped = (!ignore.is_empty()).then(|| format!("not checked: rules of --ignore {}", of(request.ignore)));
    let mut ignored: Vec<String> = unselected.into_iter().chain(dropped).collect();
    let asked: Vec<&'static Rule> = rules.iter().copied().filter(|rule| selected(rule, &select, &ignore)).collect();
    // Rules selected in the request override the configuration.
    if !select.is_empty() {
        config.choice.select = select;
        config.choice.ignore.clear();
    }
    // Whoever can write to the folder must not switch off rules unseen.
    ignored.extend(ignored_by(&config, &asked, &file, &folder, loaded));
    config.choice.ignore.extend(ignore);
    Ok(Chosen { config, folder, rules, ignored })
}

/// The rules that a configuration ignores, as sentences.
fn ignored_by(config: &Config, rules: &[&'static Rule], file: &str, folder: &Path, loaded: &Loaded) -> Vec<String> {
    let place = |filter: &EnvoyFilter| {
        let name = &loaded.sources.get(filter.document.span.file).name;
        (files::relative(name, folder), filter.namespace.clone())
    };
    let (everywhere, somewhere) = config.ignored(rules, loaded.inventory.envoy_filters.iter().map(place));
    let of = |number: usize, part: &str| {
        let rules = count(number, "rule", "rules");
        (number > 0).then(|| format!("not checked{part}: {rules}, ignored by {}", escape::one_line(file)))
    };
    of(everywhere, "").into_iter().chain(of(somewhere, " everywhere")).collect()
}
