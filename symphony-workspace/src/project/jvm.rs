//! `pom.xml` and `build.gradle`: read by what they mention, without a parser.

use super::ecosystem::{Ecosystem, Meanings, Stack, mentioned, one_of};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[
    ("spring-boot", "Spring Boot"),
    ("org.springframework.boot", "Spring Boot"),
    ("quarkus", "Quarkus"),
    ("micronaut", "Micronaut"),
    ("io.ktor", "Ktor"),
    ("vertx", "Vert.x"),
    ("com.android.application", "Android"),
    ("jakarta.jakartaee-api", "Jakarta EE"),
];

const UIS: &Meanings = &[
    ("org.jetbrains.compose", "Compose"),
    ("androidx.compose", "Compose"),
    ("openjfx", "JavaFX"),
    ("javafx", "JavaFX"),
    ("vaadin", "Vaadin"),
];

const TESTS: &Meanings = &[
    ("junit", "JUnit"),
    ("testng", "TestNG"),
    ("kotest", "Kotest"),
    ("spock", "Spock"),
];

const DATABASES: &Meanings = &[
    ("hibernate", "Hibernate"),
    ("postgresql", "PostgreSQL"),
    ("mysql", "MySQL"),
    ("sqlite", "SQLite"),
    ("com.h2database", "H2"),
    ("mongodb", "MongoDB"),
];

/// Reads `pom.xml`, else `build.gradle` or `build.gradle.kts`.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let found = maven(folder).or_else(|| gradle(folder))?;
    let text = &found.text;
    let is_kotlin = text.contains("kotlin(") || text.contains("org.jetbrains.kotlin");
    Some(Ecosystem {
        name: found.name,
        description: found.description,
        stack: Stack {
            runtime: vec!["jvm"],
            language: one_of([(is_kotlin, "kotlin"), (true, "java")]),
            framework: mentioned(text, FRAMEWORKS).into_iter().take(1).collect(),
            ui: mentioned(text, UIS).into_iter().take(1).collect(),
            testing: mentioned(text, TESTS),
            database: mentioned(text, DATABASES),
            build: vec![found.build],
            package_manager: vec![found.package_manager],
        },
    })
}

struct BuildFile {
    text: String,
    build: &'static str,
    package_manager: &'static str,
    name: Option<String>,
    description: Option<String>,
}

fn maven(folder: &Manifests<'_>) -> Option<BuildFile> {
    let text = folder.text("pom.xml")?;
    let own = without_element(&text, "parent");
    Some(BuildFile {
        build: "Maven",
        package_manager: "maven",
        name: element(&own, "name").or_else(|| element(&own, "artifactId")),
        description: element(&own, "description"),
        text,
    })
}

fn gradle(folder: &Manifests<'_>) -> Option<BuildFile> {
    let either = |one, other| folder.text(one).or_else(|| folder.text(other));
    let text = either("build.gradle", "build.gradle.kts")?;
    let settings = either("settings.gradle", "settings.gradle.kts");
    Some(BuildFile {
        build: "Gradle",
        package_manager: "gradle",
        name: settings.as_deref().and_then(gradle_name),
        description: None,
        text,
    })
}

/// Returns the text of the first element of a name, when it is plain.
fn element(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let text = text.trim();
    let is_plain = !text.is_empty() && !text.contains(['<', '$']);
    is_plain.then(|| text.to_owned())
}

fn without_element(xml: &str, name: &str) -> String {
    let end = format!("</{name}>");
    match (xml.split_once(&format!("<{name}>")), xml.split_once(&end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => xml.to_owned(),
    }
}

fn gradle_name(settings: &str) -> Option<String> {
    let mut lines = settings.lines().map(str::trim);
    let value = lines.find_map(|line| line.strip_prefix("rootProject.name"))?;
    let name = value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '=' | '"' | '\''));
    (!name.is_empty()).then(|| name.to_owned())
}
