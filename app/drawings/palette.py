"""Colours that pictures and charts share; they can be read on a light and on a dark page."""

# The colours of Okabe and Ito, which colour-blind people can distinguish, without black for the dark theme.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"]
HELD = "#E69F00"  # objects of which a formula holds
