"""Declaration and execution of commands: options, settings of a run, completion, standard input."""
