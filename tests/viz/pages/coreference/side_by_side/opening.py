"""The pair of the animal and the street, and what the page shows of a pair."""

#: Of FIRST: it, animal, street.
IT, ANIMAL, STREET = 7, 1, 5
