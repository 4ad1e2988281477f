"""Parts for stand-in bundles: generated tiny ones and small real ones; publisher's side only, never on a device."""
