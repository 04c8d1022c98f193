"""Authenticated connections between the parties: certificates, handshake, framing, and the mesh of links."""
