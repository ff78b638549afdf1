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
