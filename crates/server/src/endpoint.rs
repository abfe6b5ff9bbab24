//! Where a server listens, and for whom: an address, and the NUMA nodes that serve who comes there.
//!
//! SQL Server's form (docs/database-engine/configure-windows/map-tcp-ip-ports-to-numa-nodes-sql-server.md): a bit map
//! in brackets after the port, bit n for node n, in decimal or hexadecimal; -1 or no brackets is every node. Nodes are
//! those of soft-NUMA where that divides the machine.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// `127.0.0.1:1433` or `127.0.0.1:1433[0x3]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub address: SocketAddr,
    /// Bit n is node n; `None`: every node.
    pub nodes: Option<u64>,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint { address, nodes: None }
    }
}

/// Whether both cannot be listened at: the port is the same, and an address of one is the other's. Port 0 is any free one.
/// `[::]` is all addresses, those of IPv4 too, where the system does not part them.
pub fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let (a, b) = (one.ip().to_canonical(), other.ip().to_canonical());
    let takes = |all: IpAddr, ip: IpAddr| {
        all.is_unspecified() && (all.is_ipv6() || all.is_ipv4() == ip.is_ipv4())
    };
    let is_same = a == b || takes(a, b) || takes(b, a);
    one.port() != 0 && one.port() == other.port() && is_same
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nodes {
            None => self.address.fmt(f),
            Some(mask) => write!(f, "{}[{mask:#x}]", self.address),
        }
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Endpoint, String> {
        let address = |text: &str| {
            text.parse::<SocketAddr>()
                .map_err(|_| format!("'{text}' is not ADDR:PORT (as 127.0.0.1:1433 or [::1]:1433)"))
        };
        // The bracket of an address of IPv6 is at the front.
        let Some((before, mask)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('['))
        else {
            return address(text).map(Endpoint::from);
        };
        let address = address(before)?;
        let nodes = match mask.strip_prefix("0x").or_else(|| mask.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None if mask == "-1" => return Ok(Endpoint::from(address)),
            None => mask.parse().ok(),
        };
        match nodes {
            Some(0) => Err(format!("the bit map in '{text}' names no node")),
            Some(mask) => Ok(Endpoint { address, nodes: Some(mask) }),
            None => Err(format!("'{mask}' is not a bit map of nodes (as 0x3, 3 or -1)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_one() {
        let pair = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| text.parse().expect("an address"));
            assert_eq!(overlap(a, b), overlap(b, a), "{a} {b}");
            overlap(a, b)
        };
        assert!(pair("127.0.0.1:1433", "127.0.0.1:1433"));
        assert!(pair("127.0.0.1:1433", "0.0.0.0:1433"));
        assert!(pair("127.0.0.1:1433", "[::]:1433"));
        assert!(pair("[::1]:1433", "[::]:1433"));
        assert!(pair("127.0.0.1:1433", "[::ffff:127.0.0.1]:1433"));
        assert!(!pair("127.0.0.1:1433", "127.0.0.1:1434"));
        assert!(!pair("127.0.0.1:1433", "127.0.0.2:1433"));
        assert!(!pair("0.0.0.0:1433", "[::1]:1433"));
        assert!(!pair("127.0.0.1:0", "127.0.0.1:0"));
    }

    #[test]
    fn forms() {
        let read = |text: &str| text.parse::<Endpoint>();
        let nodes = |text: &str| read(text).map(|endpoint| endpoint.nodes);
        assert_eq!(nodes("127.0.0.1:1433"), Ok(None));
        assert_eq!(nodes("127.0.0.1:1433[0x5]"), Ok(Some(5)));
        assert_eq!(nodes("127.0.0.1:1433[2]"), Ok(Some(2)));
        assert_eq!(nodes("127.0.0.1:1433[-1]"), Ok(None));
        assert_eq!(nodes("[::1]:1433"), Ok(None));
        assert_eq!(nodes("[::1]:1433[0x1]"), Ok(Some(1)));
        for bad in ["1433", "127.0.0.1:1433[0]", "127.0.0.1:1433[x]", "127.0.0.1:1433[0x1", "[0x1]"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(read("[::1]:1433[3]").map(|e| e.to_string()), Ok("[::1]:1433[0x3]".into()));
    }
}
