"""Quality of search and of answers, measured on test collections."""
