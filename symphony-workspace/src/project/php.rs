//! `composer.json`.

use serde_json::Value;

use super::ecosystem::{Ecosystem, Meanings, Packages, Stack, all, first};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[
    ("laravel/framework", "Laravel"),
    ("symfony/framework-bundle", "Symfony"),
    ("slim/slim", "Slim"),
    ("cakephp/cakephp", "CakePHP"),
    ("codeigniter4/framework", "CodeIgniter"),
];

const UIS: &Meanings = &[
    ("livewire/livewire", "Livewire"),
    ("filament/filament", "Filament"),
];

const TESTS: &Meanings = &[("pestphp/pest", "Pest"), ("phpunit/phpunit", "PHPUnit")];

const DATABASES: &Meanings = &[
    ("doctrine/orm", "Doctrine"),
    ("doctrine/doctrine-bundle", "Doctrine"),
    ("mongodb/mongodb", "MongoDB"),
    ("predis/predis", "Redis"),
];

/// Reads `composer.json`.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let manifest: Value = serde_json::from_str(&folder.text("composer.json")?).unwrap_or_default();
    let packages: Packages = ["require", "require-dev"]
        .into_iter()
        .filter_map(|kind| manifest.get(kind)?.as_object())
        .flat_map(|packages| packages.keys().cloned())
        .collect();
    let text = |key: &str| {
        let text = manifest.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    Some(Ecosystem {
        name: text("name"),
        description: text("description"),
        stack: Stack {
            runtime: vec!["php"],
            language: vec!["php"],
            framework: first(&packages, FRAMEWORKS),
            ui: first(&packages, UIS),
            testing: all(&packages, TESTS),
            database: all(&packages, DATABASES),
            build: Vec::new(),
            package_manager: vec!["composer"],
        },
    })
}
