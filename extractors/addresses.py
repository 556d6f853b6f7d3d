"""Addresses and places, Chinese and English."""
