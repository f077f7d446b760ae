"""Host code that encodes tensor maps: which values its arguments can have, and which constraints they break."""
