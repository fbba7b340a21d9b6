"""What `idx doctor` looks at, a module for each thing that can be wrong."""
