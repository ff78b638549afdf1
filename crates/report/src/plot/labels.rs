//! Reads the numbers beside the axes of a picture in SVG.

/// A place of a picture in pixels.
pub(crate) type Place = (f64, f64);

/// Returns the places and the texts of the labels with this anchor: those of an upright axis end there, those of a
/// level one have their middle there.
pub(crate) fn of(svg: &str, anchor: &str) -> Vec<(Place, String)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.attribute("text-anchor") == Some(anchor));
    let of = |node: &roxmltree::Node<'_, '_>, name: &str| node.attribute(name)?.parse().ok();
    let label = |node: roxmltree::Node<'_, '_>| {
        Some(((of(&node, "x")?, of(&node, "y")?), node.text().unwrap_or_default().trim().to_string()))
    };
    texts.filter_map(label).collect()
}

/// Returns the points of the lines of this width.
pub(crate) fn lines(svg: &str, width: &str) -> Vec<Vec<Place>> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
    let lines = lines.filter(|node| node.attribute("stroke-width") == Some(width));
    let place = |text: &str| text.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()));
    lines.map(|node| node.attribute("points").unwrap().split_whitespace().filter_map(place).collect()).collect()
}

/// Returns the number that a label says: a time in milliseconds, or a plain number.
pub(crate) fn number(label: &str) -> Option<f64> {
    let (number, unit) = label.split_once(' ').unwrap_or((label, "ms"));
    let factor = [("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)].into_iter().find(|(word, _)| *word == unit)?.1;
    Some(number.parse::<f64>().ok()? * factor)
}

/// Asserts that every label stands at the pixel of its number, and that there are some. A number of the axis is
/// at the pixel that the line through two known points says: pairs of a number and a pixel.
pub(crate) fn assert_true(labels: &[(f64, String)], scale: fn(f64) -> f64, known: [(f64, f64); 2]) {
    let [(from, start), (to, end)] = known.map(|(number, pixel)| (scale(number), pixel));
    let pixel = |number: f64| start + (scale(number) - from) * (end - start) / (to - from);
    let known: Vec<(f64, &String)> = labels
        .iter()
        .filter_map(|(at, text)| Some((number(text)?, text)).map(|(number, text)| (pixel(number) - at, text)))
        .collect();
    assert!(known.len() > 2, "{labels:?}");
    assert!(
        known.iter().all(|(distance, _)| distance.abs() < 2.0),
        "the distances of labels from their places: {known:?}"
    );
}
