"""The pages of the workbench, one package each, with a function `show`."""
