"""Many tables scored into a folder: what is to be done, what is finished, and doing it."""
