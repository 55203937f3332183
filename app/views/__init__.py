"""The pages of the workbench, one module each, with a function `page`."""
