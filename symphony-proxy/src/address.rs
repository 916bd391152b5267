//! Which addresses are not on the public internet, and why.
//!
//! The ranges are those of the IANA special-purpose address registries (RFC 6890) that are not
//! globally reachable, those that carry an IPv4 address inside, and two that reach the host itself.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A kind of address that an allowed name alone does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Range {
    /// `0.0.0.0/8` (RFC 791) and `::` (RFC 4291): connecting to it reaches the host itself.
    Unspecified,
    /// `127.0.0.0/8` (RFC 1122), `::1` (RFC 4291).
    Loopback,
    /// RFC 1918; unique local addresses `fc00::/7` (RFC 4193); the former site-local ones (RFC 3879).
    Private,
    /// `169.254.0.0/16` (RFC 3927), `fe80::/10` (RFC 4291): also where clouds answer with credentials.
    LinkLocal,
    /// Shared addresses of providers, `100.64.0.0/10` (RFC 6598).
    CarrierNat,
    /// RFC 5771, RFC 4291.
    Multicast,
    /// RFC 5737, RFC 3849, RFC 9637.
    Documentation,
    /// RFC 2544, RFC 5180.
    Benchmarking,
    /// An IPv4 address written as IPv6: mapped or compatible (RFC 4291), translated (RFC 2765).
    EmbeddedIpv4,
    /// `64:ff9b::/96` (RFC 6052) and `64:ff9b:1::/48` (RFC 8215).
    Nat64,
    /// `2002::/16` (RFC 3056) and its relays `192.88.99.0/24` (RFC 7526).
    SixToFour,
    /// `2001::/32` (RFC 4380).
    Teredo,
    /// `168.63.129.16`: public by its number, but answered by the host of a virtual machine on Azure.
    CloudHost,
    /// The rest of what is not assigned for use on the internet.
    Reserved,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::CarrierNat => "carrier-grade NAT",
            Self::Multicast => "multicast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::EmbeddedIpv4 => "embedded IPv4",
            Self::Nat64 => "NAT64",
            Self::SixToFour => "6to4",
            Self::Teredo => "Teredo",
            Self::CloudHost => "cloud host",
            Self::Reserved => "reserved",
        })
    }
}

/// Prefixes of IPv4 in the order in which they are tried.
const V4: &[(Ipv4Addr, u32, Range)] = &[
    (Ipv4Addr::UNSPECIFIED, 8, Range::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Range::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Range::CarrierNat),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Range::Loopback),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Range::CloudHost),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Range::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Range::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Range::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Range::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Range::SixToFour),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Range::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Range::Benchmarking),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Range::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Range::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Range::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Range::Reserved),
];

/// Shortens a line of the table below.
#[expect(
    clippy::many_single_char_names,
    reason = "the groups of an address have no names"
)]
const fn v6(first: [u16; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = first;
    Ipv6Addr::new(a, b, c, d, e, f, 0, 0)
}

/// Prefixes of IPv6 in the order in which they are tried: narrow ones before the ones around them.
const V6: &[(Ipv6Addr, u32, Range)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, Range::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Range::Loopback),
    (v6([0, 0, 0, 0, 0, 0xffff]), 96, Range::EmbeddedIpv4),
    (v6([0, 0, 0, 0, 0xffff, 0]), 96, Range::EmbeddedIpv4),
    (v6([0, 0, 0, 0, 0, 0]), 96, Range::EmbeddedIpv4),
    (v6([0x64, 0xff9b, 0, 0, 0, 0]), 96, Range::Nat64),
    (v6([0x64, 0xff9b, 1, 0, 0, 0]), 48, Range::Nat64),
    (v6([0xfc00, 0, 0, 0, 0, 0]), 7, Range::Private),
    (v6([0xfe80, 0, 0, 0, 0, 0]), 10, Range::LinkLocal),
    (v6([0xfec0, 0, 0, 0, 0, 0]), 10, Range::Private),
    (v6([0xff00, 0, 0, 0, 0, 0]), 8, Range::Multicast),
    (v6([0x2001, 0, 0, 0, 0, 0]), 32, Range::Teredo),
    (v6([0x2001, 2, 0, 0, 0, 0]), 48, Range::Benchmarking),
    (v6([0x2001, 0, 0, 0, 0, 0]), 23, Range::Reserved),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0]), 32, Range::Documentation),
    (v6([0x2002, 0, 0, 0, 0, 0]), 16, Range::SixToFour),
    (v6([0x3fff, 0, 0, 0, 0, 0]), 20, Range::Documentation),
];

/// The only IPv6 addresses that IANA assigns for the internet (RFC 4291, section 2.4).
const V6_GLOBAL: (Ipv6Addr, u32) = (v6([0x2000, 0, 0, 0, 0, 0]), 3);

/// Returns the range that keeps an address closed; `None` for one on the public internet.
///
/// An address that the host itself has, or a NAT64 prefix of a network's own, cannot be known from
/// the number alone.
pub fn closed_range(address: IpAddr) -> Option<Range> {
    match address {
        IpAddr::V4(address) => V4
            .iter()
            .find(|(prefix, bits, _)| {
                (address.to_bits() ^ prefix.to_bits()).leading_zeros() >= *bits
            })
            .map(|(_, _, range)| *range),
        IpAddr::V6(address) => V6
            .iter()
            .find(|(prefix, bits, _)| is_within(address, *prefix, *bits))
            .map(|(_, _, range)| *range)
            .or_else(|| {
                let (prefix, bits) = V6_GLOBAL;
                (!is_within(address, prefix, bits)).then_some(Range::Reserved)
            }),
    }
}

fn is_within(address: Ipv6Addr, prefix: Ipv6Addr, bits: u32) -> bool {
    (address.to_bits() ^ prefix.to_bits()).leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_open() {
        let table = [
            ("1.1.1.1", None),
            ("9.255.255.255", None),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.128.0.0", None),
            ("172.15.255.255", None),
            ("172.32.0.0", None),
            ("223.255.255.255", None),
            ("2606:4700::1111", None),
            ("2001:200::1", None),
            ("2001:4860:4860::8888", None),
            ("0.0.0.0", Some(Range::Unspecified)),
            ("0.1.2.3", Some(Range::Unspecified)),
            ("10.0.0.1", Some(Range::Private)),
            ("100.64.0.1", Some(Range::CarrierNat)),
            ("100.100.100.200", Some(Range::CarrierNat)),
            ("100.127.255.255", Some(Range::CarrierNat)),
            ("127.0.0.1", Some(Range::Loopback)),
            ("127.255.255.255", Some(Range::Loopback)),
            ("168.63.129.16", Some(Range::CloudHost)),
            ("168.63.129.17", None),
            ("169.254.169.254", Some(Range::LinkLocal)),
            ("172.16.0.1", Some(Range::Private)),
            ("172.31.255.255", Some(Range::Private)),
            ("192.0.0.192", Some(Range::Reserved)),
            ("192.0.2.1", Some(Range::Documentation)),
            ("192.88.99.1", Some(Range::SixToFour)),
            ("192.168.1.1", Some(Range::Private)),
            ("198.18.0.1", Some(Range::Benchmarking)),
            ("198.19.255.255", Some(Range::Benchmarking)),
            ("198.51.100.1", Some(Range::Documentation)),
            ("203.0.113.1", Some(Range::Documentation)),
            ("224.0.0.1", Some(Range::Multicast)),
            ("240.0.0.1", Some(Range::Reserved)),
            ("255.255.255.255", Some(Range::Reserved)),
            ("::", Some(Range::Unspecified)),
            ("::1", Some(Range::Loopback)),
            ("::2", Some(Range::EmbeddedIpv4)),
            ("::127.0.0.1", Some(Range::EmbeddedIpv4)),
            ("::ffff:127.0.0.1", Some(Range::EmbeddedIpv4)),
            ("::ffff:1.1.1.1", Some(Range::EmbeddedIpv4)),
            ("::ffff:0:1.1.1.1", Some(Range::EmbeddedIpv4)),
            ("64:ff9b::7f00:1", Some(Range::Nat64)),
            ("64:ff9b:1::1", Some(Range::Nat64)),
            ("100::1", Some(Range::Reserved)),
            ("2001::1", Some(Range::Teredo)),
            ("2001:2::1", Some(Range::Benchmarking)),
            ("2001:20::1", Some(Range::Reserved)),
            ("2001:db8::1", Some(Range::Documentation)),
            ("2002:7f00:1::", Some(Range::SixToFour)),
            ("3fff:fff::1", Some(Range::Documentation)),
            ("4000::1", Some(Range::Reserved)),
            ("5f00::1", Some(Range::Reserved)),
            ("fc00::1", Some(Range::Private)),
            ("fd00:ec2::254", Some(Range::Private)),
            ("fe80::1", Some(Range::LinkLocal)),
            ("fec0::1", Some(Range::Private)),
            ("ff02::1", Some(Range::Multicast)),
        ];
        for (text, expected) in table {
            assert_eq!(closed_range(text.parse().unwrap()), expected, "{text}");
        }
    }
}
