"""Tools for authors of skills and plugins: check locale folders, convert sentences, write a new package."""
