"""Authenticated, encrypted connections between the parties: certificates, handshake, frames, and the mesh of links."""
