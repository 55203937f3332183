"""Gripper as in Figure 1 of the symmetry paper: n balls, all of them from room A to room B."""

from distill.planning import Instance, problem_class


def carry_all(n: int) -> Instance:
    """The instance with n balls."""
    balls = [f"ball{number}" for number in range(1, n + 1)]
    facts = " ".join(f"(ball {ball}) (at {ball} rooma)" for ball in balls)
    goal = " ".join(f"(at {ball} roomb)" for ball in balls)
    text = f"""(define (problem gripper-{n}) (:domain gripper)
      (:objects rooma roomb {" ".join(balls)} left right)
      (:init (room rooma) (room roomb) (gripper left) (gripper right) (free left) (free right)
             (at-robby rooma) {facts})
      (:goal (and {goal})))"""
    return Instance(problem_class("gripper").domain, text, f"gripper-{n}")
