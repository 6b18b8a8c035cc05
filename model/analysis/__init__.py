"""What attention heads do, measured: functions of traces. Knows nothing of training, files of weights or pictures."""
