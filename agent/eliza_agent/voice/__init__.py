"""The turn: from accepted tokens to sound, and back to silence at any moment."""
