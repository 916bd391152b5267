//! Maven and Gradle.

use super::folder::Folder;
use super::model::ProposalNote;
use super::package::{Coverage, Package, Role};

const GRADLE: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

/// A build of Maven or Gradle; its modules in folders below belong to it.
pub(super) fn detect(folder: &Folder<'_>, _notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let package = Package::new("java", folder.path).covers(Coverage::Except(Vec::new()));
    if folder.has("pom.xml") {
        let maven = if folder.has("mvnw") { "./mvnw" } else { "mvn" };
        let package = package
            .set_up(format!("{maven} -q -B dependency:go-offline"))
            .check(Role::Test, format!("{maven} -B test"));
        return Some(package.fills("target"));
    }
    if !folder.has_any(GRADLE) {
        return None;
    }
    let gradle = if folder.has("gradlew") {
        "./gradlew"
    } else {
        "gradle"
    };
    // a daemon would outlive the gate, and be killed with it
    let test = format!("{gradle} --no-daemon test");
    Some(package.check(Role::Test, test))
}
