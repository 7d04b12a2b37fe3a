"""Alternative libraries, one file each, used as well as the library allows."""
