"""Proof that solved poses lie on one continuous branch, whatever solver found them."""
