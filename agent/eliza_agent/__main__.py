"""`python -m eliza_agent` is the command line."""

from eliza_agent.surfaces.entry import main

if __name__ == "__main__":
    main()
