"""How commands are declared and run: options, settings of a run, completion, standard input."""
