"""Features and value functions of the papers, as references to compare with."""
