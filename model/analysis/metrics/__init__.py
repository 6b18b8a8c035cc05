"""What a head does in numbers: metrics, norms, rollout, alignment, and where one weight comes from."""
