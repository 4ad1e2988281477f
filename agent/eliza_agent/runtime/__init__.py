"""One opened bundle behind an async face; the only room that talks to the native library."""
