"""A small hub: serves a folder of bundles over HTTP, for mirrors, offline rooms and the demo."""
