"""The disk: where every byte of the state folder lives and how it changes without half states."""
