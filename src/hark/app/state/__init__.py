"""What an assistant keeps on disk between two lives, and the directory it keeps it in."""
