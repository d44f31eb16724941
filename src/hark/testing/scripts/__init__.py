"""Conversations as text that anybody can write, and playing them on an assistant whose time jumps."""
