; Add to (:requirements ...): :adl :derived-predicates
; Add to (:predicates ...): (term1 ?x) (served_G ?x0) (term2 ?x) (term3 ?x) (term3-1 ?x) (term4 ?x) (term4-1 ?x)
; Add to (:init ...) the atoms of the goal, called: served_G
; A sum of terms: each a weight times a feature, or times several features.
; weight -2
; how many have (term1 ?x)
(:derived (term1 ?x)
  (and (served ?x) (served_G ?x)))
; weight -1
; how many have (term2 ?x)
(:derived (term2 ?x)
  (and (served_G ?x) (or (boarded ?x) (served ?x))))
; weight -1
; how many have (term3 ?x)
(:derived (term3-1 ?x)
  (and (boarded ?x) (served_G ?x) (not (served ?x))))
(:derived (term3 ?x)
  (and (lift-at ?x) (exists (?y) (and (destin ?y ?x) (term3-1 ?y)))))
; weight 1
; how many have (term4 ?x)
(:derived (term4-1 ?x)
  (and (served_G ?x) (not (boarded ?x)) (not (served ?x))))
(:derived (term4 ?x)
  (and (not (lift-at ?x)) (exists (?y) (and (origin ?y ?x) (term4-1 ?y)))))
; constant 3
