"""Where files of the project are."""

from pathlib import Path

DEMO = Path(__file__).parents[2] / "app" / "demo" / "gripper-gripper-cdbf1f09"
