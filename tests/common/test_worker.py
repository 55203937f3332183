import math
import os
import signal
import subprocess
import sys
import time

import pytest

from distill.common import WorkerEndedError, carry_out, in_worker
from tests.support.commands import until
from tests.support.processes import children, is_alive, seconds_used

FAR = 600.0


def kill_itself(number: int) -> None:
    os.kill(os.getpid(), number)


def inner() -> tuple[bool, int]:
    return in_worker(), os.getpid()


def test_calls_are_carried_out_in_other_processes() -> None:
    roots = dict(carry_out([(math.isqrt, (number**2,)) for number in range(30)], workers=3))
    assert roots == {number: number for number in range(30)}
    [(_, (inside, number))] = carry_out([(inner, ())])
    assert inside
    assert number != os.getpid()
    assert not in_worker()


def test_one_process_is_kept_for_the_next_calls() -> None:
    first, second = (dict(carry_out([(inner, ())]))[0] for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("call", "limits", "cause"),
    [
        ((kill_itself, (signal.SIGSEGV,)), {}, "crash"),
        ((kill_itself, (signal.SIGKILL,)), {}, "killed"),
        ((os._exit, (0,)), {}, "crash"),
        ((sum, (range(10**15),)), {"seconds": 0.2}, "time"),
        ((eval, ("[b'1' * 10**9, __import__('time').sleep(600)]",)), {"memory": 4e8}, "memory"),
        ((bytes, (2**60,)), {}, "memory"),
    ],
)
def test_the_cause_of_the_end_is_known(call, limits, cause: str) -> None:
    before = children(os.getpid())
    with pytest.raises(WorkerEndedError) as caught:
        list(carry_out([(abs, (-1,)), call], **limits))
    assert (caught.value.cause, caught.value.position) == (cause, 1)
    assert not children(os.getpid()) - before
    assert dict(carry_out([(abs, (-1,))])) == {0: 1}, "the next call is not affected"


def test_an_error_in_a_call_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        list(carry_out([(divmod, (1, 0))]))
    assert dict(carry_out([(divmod, (7, 2))])) == {0: (3, 1)}


def test_all_processes_end_when_the_caller_stops() -> None:
    before = children(os.getpid())
    results = carry_out([(abs, (-1,)), (time.sleep, (FAR,)), (time.sleep, (FAR,))], workers=3)
    assert next(results) == (0, 1)
    assert len(children(os.getpid()) - before) >= 1
    results.close()
    assert len(children(os.getpid()) - before) <= 1, "one idle process is kept"


# The sum keeps the lock of the interpreter and handles no signal, as a library in C++ does.
PARENT = "from distill.common import carry_out; list(carry_out([(sum, (range(10**15),))]))"


def test_a_process_inside_a_library_ends_with_its_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT])
    until(lambda: children(parent.pid))
    [child] = children(parent.pid)
    until(lambda: seconds_used(child) >= 1)
    parent.kill()
    parent.wait()
    until(lambda: not is_alive(child))
