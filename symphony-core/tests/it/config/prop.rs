//! No JSON value panics the check, and what is wrong is always said.

use proptest::prelude::*;
use serde_json::{Map, Value};
use symphony_core::config::key::rows;
use symphony_core::config::{
    Effective, FileRole, KEYS, KeyPath, Layer, Place, Source, parse_project_row,
};

/// Names that occur in the table, and others.
fn name() -> impl Strategy<Value = String> {
    let known: Vec<String> = rows(KEYS)
        .iter()
        .flat_map(|row| [row.key.name.to_owned(), row.key.alias()])
        .chain(["api", "judge", "claude", "A=B", "", "-x"].map(str::to_owned))
        .collect();
    prop_oneof![4 => proptest::sample::select(known), 1 => ".{0,12}"]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..200).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(vec!["auto", "todo", "text", "API", "cargo test"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn no_value_panics_and_settings_resolve(value in json(), global in any::<bool>()) {
        let role = if global { FileRole::Global } else { FileRole::Project };
        let (document, problems) = super::file(&value, role);
        for problem in &problems {
            prop_assert!(!problem.message().is_empty());
            prop_assert!(!problem.to_string().contains('\n'));
            prop_assert_eq!(
                &KeyPath::parse(&problem.path.to_string()).unwrap_or_default(), &problem.path,
                "{}", problem.path
            );
        }
        let (row, _) = parse_project_row(&value);
        let source = Source::File { path: "/f".into(), project: None };
        let layers = [
            Layer { source: Source::Database, settings: &row },
            Layer { source: source.clone(), settings: &document.top },
        ];
        let place = Place { root: "/r".into(), home: None };
        let effective = Effective::resolve(&layers, place);
        let (_, found) = effective.config();
        // What the check let through the types take: only values at odds with each other remain.
        for problem in found {
            let expected = problem.expected().unwrap_or_default().to_owned();
            prop_assert!(
                expected.contains("add up to 100") || expected.contains("not below the medium"),
                "{}", problem
            );
        }
        if problems.is_empty() && let Value::Object(object) = &value {
            prop_assert!(object.keys().all(|name| name.is_ascii()));
        }
    }
}
