"""The agent: puts Eliza-1 on this device, proves it, activates it and lets it answer."""
