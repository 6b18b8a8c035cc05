"""What Headlight says in other languages: a catalogue a language, and what keeps them up to date with the source."""
