//! How the executable is linked (`docs/design/0010`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // at a place of its own choice 31,000 addresses would be written at each start, into 140 pages
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
