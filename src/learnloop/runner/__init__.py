"""Runs methods on environments: specs, budgets, resume and studies."""
