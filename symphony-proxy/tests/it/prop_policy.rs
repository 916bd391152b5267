//! Rules of the policy that hold for every target and every answer of the DNS.

use std::net::{IpAddr, SocketAddr};

use proptest::prelude::*;
use symphony_proxy::{Allowed, Decision, Host, Target, closed_range};

fn addresses() -> impl Strategy<Value = IpAddr> {
    let closed = [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "::1",
        "::ffff:1.2.3.4",
        "fd00::1",
    ];
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from),
        prop::sample::select(closed.to_vec()).prop_map(|text| text.parse().unwrap()),
    ]
}

proptest! {
    #[test]
    fn nothing_but_checked_addresses_is_connected_to(
        resolved in prop::collection::vec(addresses(), 0..8),
        explicit in prop::collection::vec(addresses(), 0..4),
        port in prop::sample::select(vec![443_u16, 80, 22, 8080]),
    ) {
        let entries: Vec<String> = explicit
            .iter()
            .map(|address| SocketAddr::new(*address, port).to_string())
            .chain(["allowed.example".to_owned()])
            .collect();
        // addresses that no service has are not entries
        let entries = entries.iter().filter(|entry| Allowed::parse([entry.as_str()]).is_ok());
        let allowed = Allowed::parse(entries.map(String::as_str)).unwrap();
        let target = Target { host: Host::parse("allowed.example").unwrap(), port };
        if let Decision::Connect(places) = allowed.decide(&target, &resolved) {
            prop_assert!(!places.is_empty());
            prop_assert!(matches!(port, 443 | 80));
            for place in places {
                prop_assert_eq!(place.port(), port);
                prop_assert!(resolved.contains(&place.ip()));
                let is_open = closed_range(place.ip()).is_none() || allowed.is_explicit(place);
                prop_assert!(is_open);
            }
        }
    }

    #[test]
    fn an_empty_list_opens_nothing(address in addresses(), port in 1_u16..) {
        let target = Target { host: Host::Address(address), port };
        let decision = Allowed::default().decide(&target, &[address]);
        prop_assert!(matches!(decision, Decision::Refuse(_)));
    }

    #[test]
    fn an_ipv4_address_inside_of_an_ipv6_one_is_closed(octets in any::<[u8; 4]>()) {
        let v4 = std::net::Ipv4Addr::from(octets);
        let [a, b, c, d] = octets.map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        for embedded in [
            v4.to_ipv6_mapped(),
            v4.to_ipv6_compatible(),
            std::net::Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            std::net::Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            std::net::Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, high, low),
        ] {
            prop_assert!(closed_range(embedded.into()).is_some());
        }
    }

    #[test]
    fn reading_a_host_is_total_and_stable(text in "[a-zA-Z0-9.:@%*_\\[\\]/ -]{0,40}") {
        if let Ok(host) = Host::parse(&text) {
            prop_assert_eq!(Host::parse(&host.to_string()), Ok(host));
        }
        if let Ok(target) = Target::parse(&text) {
            prop_assert_eq!(Target::parse(&target.to_string()), Ok(target));
        }
        let _parsed = Allowed::parse([text.as_str()]);
    }

    #[test]
    fn a_wildcard_covers_what_is_below_and_nothing_else(
        before in "[a-z0-9]{0,5}(\\.[a-z0-9]{1,3})?", joint in prop::sample::select(vec!["", ".", "-"]),
        after in prop::sample::select(vec!["", ".evil.com", "x"]),
    ) {
        let allowed = Allowed::parse(["*.wild.example"]).unwrap();
        let text = format!("{before}{joint}wild.example{after}:443");
        if let Ok(target) = Target::parse(&text) {
            let is_below = !before.is_empty() && joint == "." && after.is_empty();
            prop_assert_eq!(allowed.admit(&target).is_ok(), is_below);
        }
    }
}
