"""Explore: measures privately chosen contingency tables and draws rows from one graphical model fitted to all."""
