; Add to (:requirements ...): :adl :derived-predicates
; Add to (:predicates ...): (term1 ?x) (on_G ?x0 ?x1) (term2 ?x) (term3 ?x) (term4 ?x) (term4-2 ?x) (term4-1 ?x ?y) (term5 ?x)
; Add to (:init ...) the atoms of the goal, called: on_G
; A sum of terms: each a weight times a feature, or times several features.
; weight -3
; how many have (term1 ?x)
(:derived (term1 ?x)
  (exists (?y) (and (on ?x ?y) (on_G ?x ?y))))
; weight -2
; how many have (term2 ?x)
(:derived (term2 ?x)
  (and (clear ?x) (exists (?y) (and (on_G ?y ?x) (holding ?y)))))
; weight 2, times 2 features
; how many have (term3 ?x)
(:derived (term3 ?x)
  (exists (?y) (and (on_G ?x ?y) (not (on ?x ?y)))))
; how many have (term4 ?x)
(:derived (term4-1 ?x ?y)
  (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (term4-1 ?z ?y)))))
(:derived (term4-2 ?x)
  (or (exists (?y) (on_G ?x ?y)) (exists (?y) (on_G ?y ?x))))
(:derived (term4 ?x)
  (exists (?y) (and (term4-1 ?x ?y) (term4-2 ?y))))
; weight -1
; how many have (term5 ?x)
(:derived (term5 ?x)
  (exists (?y) (and (and (on_G ?x ?y) (not (on ?x ?y))) (handempty))))
; constant 3
