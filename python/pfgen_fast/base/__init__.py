"""File access: bounded reading of untrusted files, atomic writing, and escaping of untrusted text."""
