"""The bytes: from an accepted fit to a staged bundle whose every file has the promised digest."""
