"""Tables of any length: one module for each format, the streaming scorer, and directories of tables."""
