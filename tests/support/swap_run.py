"""A tiny run with V-conflicts: two cars, and a goal that says where each shall be."""

from pathlib import Path

import torch

from distill.jobs import RunConfig, do_job
from distill.networks import RGNN, Architecture, Checkpoint
from distill.planning import Domain
from distill.runs import Run

DOMAIN = """(define (domain swap) (:requirements :strips) (:predicates (at ?c ?l) (car ?c) (place ?l) (free))
  (:action go :parameters (?c ?a ?b) :precondition (and (car ?c) (place ?a) (place ?b) (at ?c ?a))
    :effect (and (at ?c ?b) (not (at ?c ?a)))))
"""
PROBLEM = """(define (problem {name}) (:domain swap) (:objects c1 c2 {places})
  (:init (car c1) (car c2) {facts} (free) (at c1 l1) (at c2 l1))
  (:goal (and (at c1 l1) (at c2 l2))))
"""
SETTINGS = {"inner_width": 1, "final_width": 1, "states": 60, "time_limit": 10.0, "rounds": 0}


def swap_run(folder: Path, **settings: object) -> Run:
    """A run on instances of two and three places; 1-WL cannot see whether both cars are at their goals."""
    instances, network = folder / "instances", folder / "net.safetensors"
    if not instances.exists():
        instances.mkdir(parents=True)
        for n in (2, 3):
            places = [f"l{number}" for number in range(1, n + 1)]
            facts = " ".join(f"(place {place})" for place in places)
            text = PROBLEM.format(name=f"swap{n}", places=" ".join(places), facts=facts)
            (instances / f"swap{n}.pddl").write_text(text)
        (folder / "swap.pddl").write_text(DOMAIN)
        torch.manual_seed(0)
        Checkpoint(RGNN(Domain(DOMAIN).vocabulary(), Architecture(layers=2, size=4))).save(network)
    content = {
        "domain": str(folder / "swap.pddl"),
        "train": str(instances),
        "test": str(instances),
        "checkpoint": str(network),
        "distillation": {**SETTINGS, **settings},
        "evaluation": {"max_steps": 20},
    }
    config = RunConfig.from_mapping(content, Path(), lambda *keys: "a test")
    return do_job(config, folder / "runs", cache=folder / "cache")
