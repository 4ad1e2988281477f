"""What is known about Eliza-1 bundles before any host is touched: terms, errors, manifest, contract."""
