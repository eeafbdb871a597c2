//! Which clients and hosts a DestinationRule is for (`destinationRule` and `setDestinationRules` in `push_context.go`, releases
//! 1.22 to 1.31).

use super::inventory::DestinationRule;

/// The full name of a host as written in an object of a namespace: `cart` is a Service there.
pub(crate) fn full_host(host: &str, namespace: &str) -> String {
    if host.contains('.') || host == "*" { host.to_owned() } else { format!("{host}.{namespace}.svc.cluster.local") }
}

impl DestinationRule {
    /// How specific its host is for this host: the length of a wildcard, the maximum for the host itself. `None` if it does
    /// not match.
    pub(crate) fn specificity(&self, host: &str) -> Option<usize> {
        let own = full_host(&self.host, &self.object.namespace);
        match own.strip_prefix('*') {
            _ if own == host => Some(usize::MAX),
            Some(suffix) if host.ends_with(suffix) => Some(own.len()),
            _ => None,
        }
    }

    /// Whether `exportTo` includes clients of a namespace.
    pub(crate) fn is_exported_to(&self, namespace: &str) -> bool {
        self.export_to.is_empty() || self.export_to.iter().any(|to| to == "*" || to == namespace)
    }

    /// Whether clients of its own namespace read it before the rules of the service's namespace. In the root namespace, only
    /// private ones are.
    pub(crate) fn is_local(&self, root: &str) -> bool {
        let namespace = &self.object.namespace;
        let private = !self.selector.is_empty() || self.export_to.iter().any(|to| to == "." || to == namespace);
        private || (namespace != root && (self.export_to.is_empty() || self.export_to.iter().any(|to| to == "*")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_hosts_get_the_namespace() {
        assert_eq!(full_host("cart", "shop"), "cart.shop.svc.cluster.local");
        assert_eq!(full_host("cart.shop.svc.cluster.local", "x"), "cart.shop.svc.cluster.local");
    }
}
