"""What films share: the bar that moves them, their keys, curves over their steps, and how page and player agree."""
