"""The proof: files against the manifest, then the bundle on this very device."""
