"""The one Python face of Eliza-1's native library.

Import the rooms by name (`eliza_native.library`, `.context`, `.text`, `.speech`, `.hearing`); this file
holds no logic and never loads the library by being imported.
"""
