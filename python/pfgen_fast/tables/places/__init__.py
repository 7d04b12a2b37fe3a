"""Files and folders, here or elsewhere: asked about, fetched whole, put whole."""
