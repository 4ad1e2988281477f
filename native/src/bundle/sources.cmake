# sources of this room
target_sources(eliza_objects PRIVATE)
