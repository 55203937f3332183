; Nothing of it can be said here: PDDL has no dist, only true and false; compare a count: [#formula > 0].
