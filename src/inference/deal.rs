//! How waiting rows are dealt out to idle lanes.

use super::FlushReason;

/// Rows below which a part is not worth another lane, nor a batch worth splitting.
const LEAST_PART: usize = 12;

/// Rows of one head that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Portion {
    pub(super) head: u8,
    pub(super) rows: usize,
}

/// What waits for one head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) portion: Portion,
    /// A request among it has waited for its timeout.
    pub(super) late: bool,
}

/// What a flush for `reason` runs, in the order in which heads are served: late ones first, then the larger first. When full batches are
/// the reason, only those, and whoever is late: a head that is never full must not wait for ever beside one that always is.
pub(super) fn serve(
    mut waiting: Vec<Waiting>,
    reason: FlushReason,
    max_batch: usize,
) -> Vec<Portion> {
    for head in &mut waiting {
        if reason == FlushReason::Full && !head.late {
            head.portion.rows -= head.portion.rows % max_batch;
        }
    }
    waiting.retain(|head| head.portion.rows > 0);
    waiting.sort_by_key(|head| (!head.late, std::cmp::Reverse(head.portion.rows)));
    waiting.into_iter().map(|head| head.portion).collect()
}

/// Deals `waiting` (in the order in which heads are served) to at most `lanes` parts of about `share` rows at most. Heads stay together
/// where they can: a batch of one head is the faster the larger it is. What exceeds the lanes' shares is left for whoever is idle next.
pub(super) fn deal(
    waiting: &[Portion],
    lanes: usize,
    share: usize,
    max_batch: usize,
) -> Vec<Vec<Portion>> {
    let total: usize = waiting.iter().map(|portion| portion.rows).sum();
    let count = (total / LEAST_PART).clamp(1, lanes.max(1));
    let size = total.div_ceil(count).min(share.max(LEAST_PART));
    let mut left = waiting.to_vec();
    let mut parts = Vec::with_capacity(count);
    for _ in 0..count {
        let mut part = Vec::new();
        let mut room = size;
        for portion in &mut left {
            let mut rows = portion.rows.min(room);
            if portion.rows - rows < LEAST_PART && rows > 0 {
                // What would be left is not worth a call of its own.
                rows = portion.rows;
            } else if rows < LEAST_PART && !part.is_empty() {
                rows = 0;
            }
            portion.rows -= rows;
            room = room.saturating_sub(rows);
            while rows > 0 {
                let batch = rows.min(max_batch);
                part.push(Portion {
                    head: portion.head,
                    rows: batch,
                });
                rows -= batch;
            }
        }
        parts.push(part);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(
        rows: &[usize],
        lanes: usize,
        share: usize,
        max_batch: usize,
    ) -> Vec<Vec<(u8, usize)>> {
        let waiting: Vec<_> = rows
            .iter()
            .zip(0..)
            .map(|(&rows, head)| Portion { head, rows })
            .collect();
        let parts = deal(&waiting, lanes, share, max_batch);
        let pairs = |part: &Vec<Portion>| part.iter().map(|p| (p.head, p.rows)).collect();
        parts.iter().map(pairs).collect()
    }

    #[test]
    fn late_heads_come_first_and_are_not_kept_waiting_by_full_ones() {
        let waiting = |head, rows, late| Waiting {
            portion: Portion { head, rows },
            late,
        };
        let all = vec![
            waiting(0, 20, false),
            waiting(1, 3, true),
            waiting(2, 5, false),
            waiting(3, 30, false),
        ];
        let served = |reason| {
            let portions = serve(all.clone(), reason, 8);
            portions
                .iter()
                .map(|p| (p.head, p.rows))
                .collect::<Vec<_>>()
        };
        assert_eq!(served(FlushReason::Full), [(1, 3), (3, 24), (0, 16)]);
        assert_eq!(
            served(FlushReason::Quiescent),
            [(1, 3), (3, 30), (0, 20), (2, 5)]
        );
    }

    #[test]
    fn heads_stay_together_where_they_fit() {
        let parts = dealt(&[280, 150, 130], 2, 280, 1_024);
        assert_eq!(parts, [vec![(0, 280)], vec![(1, 150), (2, 130)]]);
    }

    #[test]
    fn a_head_larger_than_a_share_is_split() {
        assert_eq!(
            dealt(&[500, 60], 2, 280, 1_024),
            [vec![(0, 280)], vec![(0, 220), (1, 60)]]
        );
    }

    #[test]
    fn one_idle_lane_takes_its_share_and_no_more() {
        assert_eq!(dealt(&[500], 1, 280, 1_024), [vec![(0, 280)]]);
        assert_eq!(dealt(&[100, 90], 1, 280, 1_024), [vec![(0, 100), (1, 90)]]);
    }

    #[test]
    fn slivers_are_neither_cut_off_nor_left_over() {
        // 285 of 290: the other five would cost a call.
        assert_eq!(dealt(&[290], 1, 285, 1_024), [vec![(0, 290)]]);
        // Five of the second head would cost one as well.
        assert_eq!(dealt(&[275, 200], 1, 280, 1_024), [vec![(0, 275)]]);
        // Few rows are one part however many lanes are idle.
        assert_eq!(dealt(&[5, 4], 8, 280, 1_024), [vec![(0, 5), (1, 4)]]);
    }

    #[test]
    fn batches_keep_to_their_limit() {
        assert_eq!(dealt(&[20], 1, 100, 8), [vec![(0, 8), (0, 8), (0, 4)]]);
    }

    #[test]
    fn every_row_is_dealt_at_most_once_and_something_always_is() {
        for lanes in 1..5 {
            for share in [1, 20, 300] {
                for rows in [[1, 0, 0], [13, 11, 12], [700, 3, 290], [24, 24, 24]] {
                    let mut sums = [0; 3];
                    for (head, rows) in dealt(&rows, lanes, share, 64).into_iter().flatten() {
                        assert!(0 < rows && rows <= 64);
                        sums[head as usize] += rows;
                    }
                    assert!(sums.iter().sum::<usize>() > 0);
                    assert!(sums.iter().zip(rows).all(|(&sum, rows)| sum <= rows));
                }
            }
        }
    }
}
