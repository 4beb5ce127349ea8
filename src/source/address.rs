//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether anybody's server may be at `address`, as the registries of special-purpose addresses (RFC 6890 and its
/// successors) have it. Everything else is this machine, a private network, a cloud's metadata service
/// (169.254.169.254, fd00:ec2::254, 100.100.100.200), a group, or nothing.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        // This network; private; carriers' private (RFC 6598); this machine.
        (0 | 10 | 127, ..)
            | (100, 64..=127, _)
            // Link-local, with the metadata services.
            | (169, 254, _)
            | (172, 16..=31, _)
            // Protocol assignments; examples; 6to4 relays; private.
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            // Benchmarks; examples.
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            // Groups, reserved, broadcast.
            | (224..=255, ..)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(v4) = address.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    let segments = address.segments();
    match segments {
        // NAT64 (RFC 6052): what networks without IPv4 reach IPv4 hosts by.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Protocol assignments, with Teredo; examples; 6to4, which hides an IPv4 address; examples.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Only this eighth is given to anybody: not loopback, link-local, unique local, groups.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_and_not() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:200::1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
        ] {
            assert!(text.parse().is_ok_and(is_public), "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(text.parse().is_ok_and(|address| !is_public(address)), "{text}");
        }
    }
}
