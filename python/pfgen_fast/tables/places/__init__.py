"""Local and remote files and directories: information about them, downloads and uploads."""
