-- The names of the gates that were red, as a JSON array: one gate that is red again and again stops its issue, whatever it prints.
ALTER TABLE gate_failure ADD COLUMN gates TEXT NOT NULL DEFAULT '[]';
