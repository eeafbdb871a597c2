//! Rules of the family `scope`. This list is written by `UPDATE=1 cargo test --test it rules`.

pub(crate) mod any_origin_with_credentials;
pub(crate) mod authorization_fails_open;
pub(crate) mod both_directions;
pub(crate) mod check_disabled_for_route;
pub(crate) mod client_cert_header_trusted;
pub(crate) mod credential_logged;
pub(crate) mod decided_by_client_header;
pub(crate) mod duration_leak;
pub(crate) mod identity_header_kept;
pub(crate) mod match_wider_than_it_looks;
pub(crate) mod opens_admin_interface;
pub(crate) mod outer_request_of_waypoint;
pub(crate) mod plaintext_transport;
pub(crate) mod port_reaches_other_services;
pub(crate) mod reaches_other_hosts;
pub(crate) mod remote_code_without_hash;
pub(crate) mod removes_protection;
pub(crate) mod retries_repeat_writes;
pub(crate) mod runs_before_authentication;
pub(crate) mod secret_in_value;
pub(crate) mod shared_state_leak;
pub(crate) mod token_never_required;
pub(crate) mod upstream_not_verified;
pub(crate) mod weakens_tls;
pub(crate) mod whole_mesh;
pub(crate) mod whole_namespace;
