"""The lookers: one module per part of the host, each a pure parsing layer under a thin reading one."""
