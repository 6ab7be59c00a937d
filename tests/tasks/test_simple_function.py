"""The task's arguments: what is taken, and what is refused."""

import numpy as np
import pytest

from torchalu.tasks import SimpleFunction

INTERVALS = r"give \(low, high\) or two such intervals"
SHARE = "give a number from 0 to 1"


def test_ranges_may_be_lists_as_json_has_them():
    listed = SimpleFunction(
        "mul", interpolation_range=[[-6, -2], [2, 6]], extrapolation_range=[1, 2]
    )
    assert listed.interpolation_range == ((-6, -2), (2, 6))
    assert listed == SimpleFunction(
        "mul", interpolation_range=((-6, -2), (2, 6)), extrapolation_range=(1, 2)
    )
    assert len({listed, SimpleFunction("mul")}) == 2


def test_subsets_may_be_of_any_integers():
    task = SimpleFunction("mul", in_features=4, subsets=([0, np.int64(3)], np.array([1])))
    assert [subset.tolist() for subset in task.subsets_of(0, 0)] == [[0, 3], [1]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"interpolation_range": (2, 1)}, ValueError, r"holds \(2, 1\); give finite numbers"),
        ({"interpolation_range": (1, 1)}, ValueError, r"holds \(1, 1\); give finite numbers"),
        (
            {"extrapolation_range": (0, np.inf)},
            ValueError,
            r"holds \(0, inf\); give finite numbers",
        ),
        ({"extrapolation_range": 5}, ValueError, f"^extrapolation_range is 5; {INTERVALS}$"),
        ({"interpolation_range": "12"}, ValueError, f"^interpolation_range is '12'; {INTERVALS}$"),
        ({"interpolation_range": ((1, 2), 3)}, ValueError, INTERVALS),
        ({"interpolation_range": [[1, 2], [3]]}, ValueError, INTERVALS),
        ({"subset_ratio": 2.0}, ValueError, f"^subset_ratio is 2.0; {SHARE}$"),
        ({"subset_ratio": "a"}, TypeError, f"^subset_ratio is 'a'; {SHARE}$"),
        ({"subset_ratio": 0}, ValueError, "^two subsets of 0 inputs"),
        ({"overlap_ratio": -1}, ValueError, f"^overlap_ratio is -1; {SHARE}$"),
        ({"subset_ratio": 0.9, "overlap_ratio": 0}, ValueError, "^two subsets of 90 inputs"),
        ({"subsets": ((0, 1.5), (1,))}, ValueError, r"the index 1\.5; allowed are the integers"),
        ({"subsets": ((0, 100), (1,))}, ValueError, "the index 100; .* from 0 to 99$"),
        ({"subsets": ((0,), ())}, ValueError, "give two sequences of indices"),
        ({"noise": "a"}, TypeError, "^noise is 'a'; give a finite number, 0 or more$"),
        ({"noise": -0.1}, ValueError, r"^noise is -0\.1; give a finite number, 0 or more$"),
        ({"correlation": 1}, ValueError, r"^correlation is 1; give a number in \[0, 1\)$"),
        ({"correlation": -0.5}, ValueError, f"^correlation is -0.5; {SHARE}$"),
        ({"operation": "pow"}, ValueError, "^operation is 'pow'; choose from add, sub, mul"),
        ({"in_features": 2.0}, TypeError, r"^in_features is 2\.0; give a positive integer$"),
    ],
)
def test_what_is_no_task_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        SimpleFunction(**{"operation": "mul"} | arguments)
