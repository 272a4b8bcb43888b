"""What every method, environment, store and model must satisfy, also those of plugins."""
