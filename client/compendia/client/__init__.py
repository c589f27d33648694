"""The client node of one organization: import sources, build a compendium from experience, publish it."""
