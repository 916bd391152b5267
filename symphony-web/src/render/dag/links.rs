//! Which items of neighbouring layers are tied.

/// Which items are connected, in both directions.
#[derive(Debug)]
pub(super) struct Links {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl Links {
    pub(super) fn new(count: usize, routes: &[Vec<usize>]) -> Self {
        let mut links = Self {
            before: vec![Vec::new(); count],
            after: vec![Vec::new(); count],
        };
        for route in routes {
            for (from, to) in route.iter().zip(route.iter().skip(1)) {
                if let Some(list) = links.after.get_mut(*from) {
                    list.push(*to);
                }
                if let Some(list) = links.before.get_mut(*to) {
                    list.push(*from);
                }
            }
        }
        links
    }

    pub(super) fn before(&self, item: usize) -> &[usize] {
        self.before.get(item).map_or(&[], Vec::as_slice)
    }

    pub(super) fn after(&self, item: usize) -> &[usize] {
        self.after.get(item).map_or(&[], Vec::as_slice)
    }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// A count as a number with a fraction: there are never more than a few thousand items.
pub(super) fn exact(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
