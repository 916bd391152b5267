//! Which entry of the list would open what was refused.

use crate::address::Range;
use crate::host::{Host, Target};
use crate::policy::Refusal;

/// Returns the entry that would open a target; `None` if no entry can, or none should be proposed: at link-local addresses
/// clouds hand out their machines' credentials.
pub(crate) fn entry_for(target: &Target, refusal: &Refusal) -> Option<String> {
    match (refusal, &target.host) {
        (Refusal::HostNotListed, Host::Name(name)) if matches!(target.port, 80 | 443) => {
            Some(name.clone())
        }
        (Refusal::HostNotListed | Refusal::PortNotListed { .. }, _) => Some(target.to_string()),
        (
            Refusal::ClosedAddress {
                range:
                    Range::Unspecified | Range::Multicast | Range::EmbeddedIpv4 | Range::LinkLocal,
                ..
            }
            | Refusal::NoAddress,
            _,
        ) => None,
        (Refusal::ClosedAddress { address, .. } | Refusal::OwnAddress { address }, _) => {
            let host = Host::Address(*address);
            Some(
                Target {
                    host,
                    port: target.port,
                }
                .to_string(),
            )
        }
    }
}
