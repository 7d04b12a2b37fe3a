"""The commands `pfgen-fast checklists`."""
