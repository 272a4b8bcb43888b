"""Pure arithmetic without a model: an error in, a decision out; and the sensors."""
