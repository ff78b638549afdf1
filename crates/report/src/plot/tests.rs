use super::*;

fn series(label: &str, start: f64) -> PlotSeries {
    let stretch = |evaluations: u32| {
        let mean = start + (1.0 - start) * (1.0 - 1.0 / f64::from(evaluations));
        Stretch { at: f64::from(evaluations), mean, low: mean - 0.1, high: (mean + 0.1).min(1.0) }
    };
    PlotSeries { label: label.to_string(), curve: (1..=40).map(stretch).collect(), last: vec![start, 0.9, 0.95, 1.0] }
}

/// Returns all text of the picture, in its order.
fn texts(svg: &str) -> String {
    let document = roxmltree::Document::parse(svg).expect("well-formed");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    document.descendants().filter(|node| node.is_text()).filter_map(|node| node.text()).collect()
}

#[test]
fn a_picture_is_well_formed_and_names_every_strategy() {
    let hostile = "annealing(<\"&'>)";
    let long = "genetic(population=20, mutation=0.1, crossover=\"uniform\")";
    let all = vec![series("random", 0.4), series(hostile, 0.5), series(long, 0.6)];
    let plot = ComparisonPlot { title: "a <space> & more".to_string(), axis: "evaluations".to_string(), series: all };
    let svg = comparison_svg(&plot).unwrap();
    let text = texts(&svg).split_whitespace().collect::<String>();
    for part in ["random", hostile, long, "a <space> & more", "evaluations", "optimum / best"] {
        let part: String = part.split_whitespace().collect();
        assert!(text.contains(&part), "`{part}` is missing in {text}");
    }
    assert_eq!(svg, comparison_svg(&plot).unwrap(), "the same plot gives the same bytes");
}

#[test]
fn pictures_of_little_and_of_much_are_drawn() {
    let one = PlotSeries {
        label: "one".to_string(),
        curve: vec![Stretch { at: 1.0, mean: 0.0, low: 0.0, high: 1.0 }],
        last: vec![0.0],
    };
    let perfect = PlotSeries { last: vec![1.0; 5], ..series("perfect", 1.0) };
    let many = (0..40).map(|number| series(&format!("strategy {number}"), 0.3)).collect();
    for series in [Vec::new(), vec![one], vec![perfect], many] {
        let count = series.len();
        let svg =
            comparison_svg(&ComparisonPlot { title: "t".to_string(), axis: "simulated seconds".to_string(), series })
                .unwrap();
        assert!(texts(&svg).contains(if count == 40 { "strategy 39" } else { "t" }));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn every_number_beside_an_axis_is_that_of_its_place() {
    for (first, last, least) in
        [(1.0, 3.0, 0.2), (1.0, 1000.0, 0.93), (1024.0, 1_249_692.0, 0.97), (0.0009, 0.0017, 0.5)]
    {
        let stretch = |at, mean| Stretch { at, mean, low: mean, high: mean };
        let middle = f64::midpoint(least, 1.0);
        let one = |label: &str, median| PlotSeries {
            label: label.to_string(),
            curve: vec![stretch(first, least), stretch(last, middle)],
            last: vec![median],
        };
        let series = vec![one("one", least), one("two", middle)];
        let plot = ComparisonPlot { title: "t".to_string(), axis: "evaluations".to_string(), series };
        let svg = comparison_svg(&plot).unwrap();
        let line = &labels::lines(&svg, "2")[0];
        let upright = labels::of(&svg, "end");
        let panel = |from: f64, to: f64| -> Vec<(f64, String)> {
            let inside = upright.iter().filter(|((x, _), _)| (from..to).contains(x));
            inside.map(|((_, y), text)| (*y, text.clone())).collect()
        };
        labels::assert_true(&panel(0.0, 560.0), |share| share, [(least, line[0].1), (middle, line[1].1)]);
        assert!(texts(&svg).contains(&format!("searches after {} evaluations", crate::quantity(last))));
        let medians = labels::lines(&svg, "3");
        labels::assert_true(&panel(560.0, 890.0), |share| share, [(least, medians[0][0].1), (middle, medians[1][0].1)]);
        let level: Vec<_> = labels::of(&svg, "middle").into_iter().map(|((x, _), text)| (x, text)).collect();
        labels::assert_true(&level, f64::ln, [(first, line[0].0), (last, line[1].0)]);
    }
}
