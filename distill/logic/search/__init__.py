"""Search: enumeration, neighbourhoods of formulas, and shortest formulas with a given denotation."""
