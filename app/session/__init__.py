"""The session: the open run, the selection in the address, saved views, and the entry of the workbench."""
