; Packages travel by truck within a city and by plane between airports.
(define (domain logistics)
  (:requirements :strips :typing)
  (:types city place physical - object
          airport - place
          vehicle package - physical
          truck airplane - vehicle)
  (:predicates
    (in-city ?l - place ?c - city)
    (at ?x - physical ?l - place)
    (in ?p - package ?v - vehicle))

  (:action load
    :parameters (?p - package ?v - vehicle ?l - place)
    :precondition (and (at ?v ?l) (at ?p ?l))
    :effect (and (in ?p ?v) (not (at ?p ?l))))

  (:action unload
    :parameters (?p - package ?v - vehicle ?l - place)
    :precondition (and (at ?v ?l) (in ?p ?v))
    :effect (and (at ?p ?l) (not (in ?p ?v))))

  (:action drive
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (at ?t ?from) (in-city ?from ?c) (in-city ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))

  (:action fly
    :parameters (?a - airplane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))
