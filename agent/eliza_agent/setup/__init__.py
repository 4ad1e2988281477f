"""From nothing to an Eliza-1 that answers: the rungs, the conductor and the last gate."""
