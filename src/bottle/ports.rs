//! Loopback ports for istiod, which cannot listen on any free port and report it.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};

/// Ports reserved for istiods of this program, whether they listen yet or not: otherwise the system could assign one
/// twice, and one istiod would be mistaken for another.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Three free ports, kept from other istiods of this program until they are dropped.
#[derive(Debug)]
pub(super) struct Ports {
    /// For xDS.
    pub(super) grpc: SocketAddr,
    /// For `/ready`.
    pub(super) http: SocketAddr,
    /// For metrics.
    pub(super) monitoring: SocketAddr,
}

impl Ports {
    /// Reserves three free ports.
    pub(super) fn new() -> io::Result<Ports> {
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        // Reserved ports stay bound meanwhile, so that every call finds another.
        let (mut found, mut bound) = (Vec::new(), Vec::new());
        while found.len() < 3 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let address = listener.local_addr()?;
            if given.insert(address.port()) {
                found.push(address);
            }
            bound.push(listener);
        }
        Ok(Ports { grpc: found[0], http: found[1], monitoring: found[2] })
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        for address in [self.grpc, self.http, self.monitoring] {
            given.remove(&address.port());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice_while_it_is_kept() {
        let kept: Vec<Ports> = (0..100).map(|_| Ports::new().unwrap()).collect();
        let all: BTreeSet<u16> =
            kept.iter().flat_map(|it| [it.grpc, it.http, it.monitoring]).map(|it| it.port()).collect();
        assert_eq!(all.len(), 300);
        assert!(all.is_subset(&GIVEN.lock().unwrap()));
        drop(kept);
        assert!(all.is_disjoint(&GIVEN.lock().unwrap()));
    }
}
