"""Language models: one provider a file, one wrapper a file, and the catalog of model files."""
