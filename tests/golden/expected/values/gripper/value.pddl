; Add to (:requirements ...): :adl :derived-predicates
; Add to (:predicates ...): (term1 ?x) (at_G ?x0 ?x1) (term2 ?x) (term2-1 ?x) (term3 ?x) (term3-1 ?x) (term4 ?x) (term5 ?x) (term5-1 ?x) (term6) (term7 ?x) (term7-1 ?x)
; Add to (:init ...) the atoms of the goal, called: at_G
; A sum of terms: each a weight times a feature, or times several features.
; weight -5
; how many have (term1 ?x)
(:derived (term1 ?x)
  (exists (?y) (and (and (at ?x ?y) (at_G ?x ?y)) (room ?y))))
; weight 2
; how many have (term2 ?x)
(:derived (term2-1 ?x)
  (exists (?y) (and (at_G ?x ?y) (room ?y))))
(:derived (term2 ?x)
  (exists (?y) (and (at ?y ?x) (term2-1 ?y))))
; weight 1
; how many have (term3 ?x)
(:derived (term3-1 ?x)
  (exists (?y) (and (at_G ?x ?y) (at-robby ?y))))
(:derived (term3 ?x)
  (exists (?y) (and (at ?y ?x) (term3-1 ?y))))
; weight -1
; how many have (term4 ?x)
(:derived (term4 ?x)
  (exists (?y) (and (and (at_G ?x ?y) (not (at ?x ?y))) (at-robby ?y))))
; weight 1
; how many have (term5 ?x)
(:derived (term5-1 ?x)
  (exists (?y) (and (at_G ?x ?y) (room ?y))))
(:derived (term5 ?x)
  (and (not (at-robby ?x)) (exists (?y) (and (at ?y ?x) (term5-1 ?y)))))
; weight -1, times 2 features
; 1 if (term6), otherwise 0
(:derived (term6)
  (exists (?y) (free ?y)))
; how many have (term7 ?x)
(:derived (term7-1 ?x)
  (exists (?y) (and (at_G ?x ?y) (room ?y))))
(:derived (term7 ?x)
  (and (exists (?y) (and (at ?y ?x) (term7-1 ?y))) (not (exists (?y) (and (at_G ?y ?x) (ball ?y))))))
; constant 2
