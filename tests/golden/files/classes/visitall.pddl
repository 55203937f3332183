; A robot walks over connected cells and marks each as visited.
(define (domain visitall)
  (:requirements :strips :typing)
  (:types cell - object)
  (:predicates (connected ?x ?y - cell) (at-robot ?x - cell) (visited ?x - cell))

  (:action move
    :parameters (?from ?to - cell)
    :precondition (and (at-robot ?from) (connected ?from ?to))
    :effect (and (at-robot ?to) (visited ?to) (not (at-robot ?from)))))
