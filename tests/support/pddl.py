"""Small domains and instances."""

from distill.planning import Domain, Instance

LIGHTS = """(define (domain lights)
  (:requirements :strips :typing :negative-preconditions :equality :conditional-effects)
  (:types lamp - thing thing switch - object)
  (:constants main - lamp)
  (:predicates (lit ?x - lamp) (wired ?s - switch ?x - lamp) (power) (used ?s - switch))
  (:action press :parameters (?s - switch ?x - lamp)
    :precondition (and (power) (wired ?s ?x) (not (lit ?x)))
    :effect (and (used ?s) (forall (?y - lamp) (when (wired ?s ?y) (lit ?y)))))
  (:action swap :parameters (?x - lamp ?y - lamp)
    :precondition (and (lit ?x) (not (lit ?y)) (not (= ?x ?y)) (not (= ?y main)))
    :effect (and (not (lit ?x)) (lit ?y)))
  (:action toggle :parameters () :precondition (power) :effect (not (power))))"""
HALL = """(define (problem hall) (:domain lights)
  (:objects a b c - lamp s t - switch)
  (:init (power) (wired s a) (wired s main) (wired t b) (lit c))
  (:goal (and (lit main) (not (power)) (not (lit c)))))"""
# Nullary, unary, binary and ternary atoms, a negated goal, a dead end and an action that changes nothing.
ODD = """(define (domain odd) (:requirements :strips :negative-preconditions)
(:predicates (lit) (at ?x) (way ?x ?y ?z) (seen ?x ?y ?z))
(:action go :parameters (?x ?y ?z) :precondition (and (at ?x) (way ?x ?y ?z))
 :effect (and (at ?y) (not (at ?x)) (seen ?x ?y ?z)))
(:action wait :parameters (?x) :precondition (at ?x) :effect (at ?x))
(:action switch :parameters () :precondition (lit) :effect (not (lit))))"""
TASK = """(define (problem p) (:domain odd) (:objects a b c d)
(:init (lit) (at a) (way a b c) (way b c d) (way a d c)) (:goal (and (at c) (not (lit)))))"""
RIGHT = {
    "blocks-clear": "2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)",
    "blocks-on": "-3*#<on & on_G>top - 2*#(clear & <on_G^-1>holding) - #<on_G & ~on>handempty + 3"
    " + 2*#<on_G & ~on>top * #<on+>(<on_G>top | <on_G^-1>top)",
    "gripper": "#<at^-1><at_G>at-robby + 2*#<at^-1><at_G>room + #(~at-robby & <at^-1><at_G>room)"
    " - 5*#<at & at_G>room - #<at_G & ~at>at-robby - [#free > 0]*#(<at^-1><at_G>room & ~<at_G^-1>ball) + 2",
    "miconic": "-2*#(served & served_G) - #(served_G & (boarded | served)) + 3"
    " - #(lift-at & <destin^-1>(boarded & served_G & ~served))"
    " + #(~lift-at & <origin^-1>(served_G & ~boarded & ~served))",
    "visitall": "dist(visited_G & ~visited, connected, at-robot)",
}
MAZE = """(define (domain maze) (:requirements :strips)
  (:predicates (at ?x) (way ?x ?y) (bell))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (way ?x ?y)) :effect (and (at ?y) (not (at ?x))))
  (:action ring :parameters (?x) :precondition (and (at ?x) (way ?x ?x)) :effect (bell)))"""


def maze(ways: str, goal: str = "(at b)", begin: str = "a", objects: str = "a b c") -> Instance:
    pairs = " ".join(f"(way {one[0]} {one[1]})" for one in ways.split())
    init = f"(:init (at {begin}) {pairs})"
    text = f"(define (problem m) (:domain maze) (:objects {objects}) {init} (:goal {goal}))"
    return Instance(Domain(MAZE), text, "m")
