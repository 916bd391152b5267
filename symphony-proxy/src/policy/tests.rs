//! Tables of entries and decisions.

use super::*;

fn allowed(entries: &[&str]) -> Allowed {
    Allowed::parse(entries.iter().copied()).unwrap()
}

fn fault(entry: &str) -> EntryFault {
    let faults = Allowed::parse([entry]).unwrap_err();
    assert_eq!(faults.len(), 1);
    faults[0].fault.clone()
}

#[test]
fn entries_that_are_not_hosts_say_why() {
    let table = [
        ("", EntryFault::Host(HostFault::Empty)),
        ("*", EntryFault::WideWildcard),
        ("*:443", EntryFault::WideWildcard),
        ("*.org", EntryFault::WideWildcard),
        ("*.org.:443", EntryFault::WideWildcard),
        ("a.*.example", EntryFault::WildcardPlace),
        ("*a.example", EntryFault::WildcardPlace),
        ("**.a.example", EntryFault::WildcardPlace),
        (
            "*.*.example.com",
            EntryFault::Host(HostFault::Character('*')),
        ),
        ("*.", EntryFault::Host(HostFault::Empty)),
        ("*.1.2.3.4", EntryFault::AddressWithoutPort),
        ("10.0.0.5", EntryFault::AddressWithoutPort),
        ("[fd00::5]", EntryFault::AddressWithoutPort),
        ("fd00::5", EntryFault::BareIpv6),
        ("localhost", EntryFault::LocalName),
        ("LOCALHOST.:8080", EntryFault::LocalName),
        ("*.my.localhost", EntryFault::LocalName),
        ("0.0.0.0:80", EntryFault::NoService(Range::Unspecified)),
        (
            "[::ffff:10.0.0.5]:80",
            EntryFault::NoService(Range::EmbeddedIpv4),
        ),
        ("224.0.0.1:80", EntryFault::NoService(Range::Multicast)),
        ("https://a.example", EntryFault::Host(HostFault::Url)),
        ("a.example/path", EntryFault::Host(HostFault::Url)),
        ("me@a.example", EntryFault::Host(HostFault::User)),
        ("a.example:0", EntryFault::Host(HostFault::Port)),
        ("bücher.example", EntryFault::Host(HostFault::NotAscii)),
        ("127.1:80", EntryFault::Host(HostFault::OddAddress)),
    ];
    for (entry, expected) in table {
        assert_eq!(fault(entry), expected, "{entry:?}");
    }
    let faults = Allowed::parse(["fine.example", "*", "localhost"]).unwrap_err();
    let entries: Vec<_> = faults.iter().map(|fault| &*fault.entry).collect();
    assert_eq!(entries, ["*", "localhost"], "all faults are reported");
}

#[test]
fn names_are_compared_whole() {
    let allowed = allowed(&[
        "allowed.example",
        "*.Wild.example.",
        "port.example:8443",
        "*.port.example:9000",
    ]);
    let no_host = || Err(Refusal::HostNotListed);
    let listed = |listed: &[u16]| {
        Err(Refusal::PortNotListed {
            listed: listed.to_vec(),
        })
    };
    let table = [
        ("allowed.example:443", Ok(())),
        ("ALLOWED.example.:80", Ok(())),
        ("allowed.example:22", listed(&[80, 443])),
        ("allowed.example.evil.com:443", no_host()),
        ("evilallowed.example:443", no_host()),
        ("sub.allowed.example:443", no_host()),
        ("wild.example:443", no_host()),
        ("a.wild.example:443", Ok(())),
        ("a.b.wild.example:443", Ok(())),
        ("awild.example:443", no_host()),
        ("port.example:8443", Ok(())),
        ("port.example:443", listed(&[8443])),
        ("a.port.example:9000", Ok(())),
        ("localhost:443", no_host()),
        ("example:443", no_host()),
    ];
    for (target, expected) in table {
        assert_eq!(
            allowed.admit(&Target::parse(target).unwrap()),
            expected,
            "{target}"
        );
    }
}

#[test]
fn closed_addresses_need_entries_of_their_own() {
    let allowed = allowed(&["a.example", "10.0.0.5:443", "[fd00::5]:8080", "9.9.9.9:53"])
        .with_model_server("127.0.0.1:11434".parse().unwrap());
    let connect = |places: &[&str]| {
        Decision::Connect(places.iter().map(|place| place.parse().unwrap()).collect())
    };
    let closed = |address: &str, range| {
        let address = address.parse().unwrap();
        Decision::Refuse(Refusal::ClosedAddress { address, range })
    };
    let table: [(&str, &[&str], Decision); 16] = [
        ("a.example:443", &["1.1.1.1"], connect(&["1.1.1.1:443"])),
        (
            "a.example:443",
            &["1.1.1.1", "1.1.1.1"],
            connect(&["1.1.1.1:443"]),
        ),
        (
            "a.example:443",
            &["127.0.0.1", "1.1.1.1", "::1"],
            connect(&["1.1.1.1:443"]),
        ),
        (
            "a.example:443",
            &["127.0.0.1"],
            closed("127.0.0.1", Range::Loopback),
        ),
        (
            "a.example:443",
            &["169.254.169.254"],
            closed("169.254.169.254", Range::LinkLocal),
        ),
        (
            "a.example:443",
            &["::ffff:1.1.1.1"],
            closed("::ffff:1.1.1.1", Range::EmbeddedIpv4),
        ),
        ("a.example:443", &["10.0.0.5"], connect(&["10.0.0.5:443"])),
        (
            "a.example:80",
            &["10.0.0.5"],
            closed("10.0.0.5", Range::Private),
        ),
        ("a.example:443", &[], Decision::Refuse(Refusal::NoAddress)),
        ("10.0.0.5:443", &[], connect(&["10.0.0.5:443"])),
        ("10.0.0.6:443", &[], closed("10.0.0.6", Range::Private)),
        ("[fd00::5]:8080", &[], connect(&["[fd00::5]:8080"])),
        ("9.9.9.9:53", &["127.0.0.1"], connect(&["9.9.9.9:53"])),
        (
            "1.1.1.1:443",
            &["1.1.1.1"],
            Decision::Refuse(Refusal::HostNotListed),
        ),
        ("127.0.0.1:11434", &[], connect(&["127.0.0.1:11434"])),
        (
            "[::ffff:127.0.0.1]:443",
            &[],
            closed("::ffff:127.0.0.1", Range::EmbeddedIpv4),
        ),
    ];
    for (target, addresses, expected) in table {
        let addresses: Vec<IpAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
        let found = allowed.decide(&Target::parse(target).unwrap(), &addresses);
        assert_eq!(found, expected, "{target} {addresses:?}");
    }
}
