"""Conditions → which index finds the rows that satisfy them."""
