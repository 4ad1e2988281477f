"""What this host can do (looking) and whether a bundle fits it (judging); the two share only `report`."""
