"""The browser's address as a QR code."""
