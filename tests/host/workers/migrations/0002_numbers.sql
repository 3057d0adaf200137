CREATE TABLE numbers (whole INTEGER, words TEXT, untyped);
