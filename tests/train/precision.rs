//! Mixed precision on the CPU.

use crate::averages::KUHN;
use crate::program::{Place, assert_same_rows};

#[test]
fn a_run_in_half_precision_resumes_exactly_with_its_loss_scale() {
    let place = Place::new();
    let set = |more| [&KUHN[..], &["run.use_amp=true", "run.amp_dtype=f16", more]].concat();
    place
        .smoke("whole", &set("run.max_iterations=4"))
        .succeeded();
    place
        .smoke("parts", &set("run.max_iterations=2"))
        .succeeded();
    place.resume("parts", &["run.max_iterations=4"]).succeeded();
    assert_same_rows(place.rows("whole"), place.rows("parts"));
    let row = &place.rows("whole")[3];
    assert!(row["amp/loss_scale"].as_f64() > Some(0.0), "{row:?}");
    let manifest = place.text("parts/latest/manifest.json");
    assert!(manifest.contains("good_steps"), "{manifest}");
}
