"""Published suites: their manifests, and how they are downloaded and checked."""
