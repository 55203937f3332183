; Add to (:requirements ...): :adl :derived-predicates
; Add to (:predicates ...): (term1 ?x) (term1-1 ?x ?y) (clear_G ?x0) (term2 ?x) (term3 ?x) (term4 ?x)
; Add to (:init ...) the atoms of the goal, called: clear_G
; A sum of terms: each a weight times a feature, or times several features.
; weight 2
; how many have (term1 ?x)
(:derived (term1-1 ?x ?y)
  (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (term1-1 ?z ?y)))))
(:derived (term1 ?x)
  (exists (?y) (and (term1-1 ?x ?y) (clear_G ?y))))
; weight -1
; how many have (term2 ?x)
(:derived (term2 ?x)
  (exists (?y) (and (on ?x ?y) (clear_G ?y))))
; weight 1, times 2 features
; how many have (term3 ?x)
(:derived (term3 ?x)
  (holding ?x))
; how many have (term4 ?x)
(:derived (term4 ?x)
  (and (clear_G ?x) (not (clear ?x))))
