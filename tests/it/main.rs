//! Integration tests: one binary, with one module for each subject.

#![allow(clippy::disallowed_methods, reason = "tests make files and run programs")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by them")]
#![allow(
    clippy::format_collect,
    clippy::default_trait_access,
    clippy::nonminimal_bool,
    reason = "tests are written to be read"
)]
#![allow(clippy::print_stdout, reason = "figures, and what a person looks for who debugs a case")]
#![allow(clippy::too_many_lines, reason = "tables, and stories of a cluster that are told from start to end")]

// As in the program: with the allocator of the system the tests take longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

// First, for the macros in it.
#[macro_use]
mod support;

mod api;
mod attack;
mod audit;
mod audit_field;
mod audit_recordings;
mod bad_input;
mod behaviour;
mod bottle;
mod cli;
mod completion;
mod corpus_lint;
mod custom_rules;
mod definitions;
mod docs;
mod dump;
mod envoy;
mod examples;
mod field_failures;
mod field_judged;
mod fuzzing;
mod generate;
mod go_regexp;
mod input;
mod istio_samples;
mod istioctl;
mod leaks;
mod lint_cli;
mod linting;
mod live;
mod migrate;
mod migrate_ambient;
mod migrate_corpus;
mod migrate_fix;
mod migrate_judged;
mod migrate_reasons;
mod migrate_result;
mod order;
mod parity;
mod properties;
mod rate_limits;
mod real;
mod reference;
mod rules;
mod seeds;
mod seeds_lint;
mod services;
mod sources;
mod tidy;
mod tidy_lint;
mod truth;
mod unapply;
mod webhook;
mod webhook_deploy;
mod yaml_reader;
